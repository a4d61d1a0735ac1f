import type { Config } from '../../../config/index.ts'
import type { Db } from '../../../database/database.ts'
import { events } from '../../../events/events.ts'
import { insertEntries } from '../../../http/audit.repository.ts'
import { webhookQueue } from '../../webhooks/delivery/enqueue.ts'
import { prove } from './prove.ts'

/** The claims on a name, proven or pending, of one organization or of all. */
export const claimsNamed = (db: Db, domain: string, organization: string | undefined) =>
  db
    .selectFrom('domains')
    .select(['id', 'domain', 'organization_id'])
    .where('domain', '=', domain)
    .$if(organization !== undefined, (query) =>
      query.where('organization_id', '=', organization as string),
    )
    .orderBy('organization_id')
    .execute()

/** Proves a claim on the command line, with the audit row that an operator's request would have. */
export function proveByCommand(
  db: Db,
  config: Config,
  claim: { id: string; domain: string; organization_id: string },
  reason: string,
) {
  const now = () => new Date()
  const needs = { config, events: events([webhookQueue(config)]), now }
  return db.transaction().execute(async (tx) => {
    const row = await prove(needs, tx, claim, 'operator')
    if (!row) return undefined
    await insertEntries(tx, [
      {
        operator_id: null,
        operator_email: null,
        caller_scope: 'platform',
        action: 'verify_domain_ownership',
        target_type: 'domain_id',
        target_id: row.id,
        organization_id: row.organization_id,
        request_body: { reason, source: 'command line' },
        result: 'success',
        status_code: 200,
        ip_address: '',
        correlation_id: null,
        created_at: now().toISOString(),
      },
    ])
    return row
  })
}
