import { accountLinks } from '../../../access/account-links.ts'
import { revokeSessionsOf } from '../../../access/sessions.repository.ts'
import { clear } from '../../../access/throttle.repository.ts'
import { twoFactor } from '../../../access/two-factor.ts'
import type { Config } from '../../../config/index.ts'
import type { Db } from '../../../database/database.ts'
import { events } from '../../../events/events.ts'
import { insertEntries } from '../../../http/audit.repository.ts'
import type { Vault } from '../../../lib/vault.ts'
import { webhookQueue } from '../../webhooks/delivery/enqueue.ts'
import { OperatorRescued } from './operators.events.ts'
import { findByEmail, lock } from './operators.repository.ts'

interface Rescue {
  config: Config
  vault: Vault
  email: string
  reason: string
}

/**
 * The way back for an operator who lost the second factor, also for the only owner: clears it, ends
 * the sessions, lifts the throttles of the account and creates a link to set a new password.
 */
export async function rescueByCommand(db: Db, { config, vault, email, reason }: Rescue) {
  const now = () => new Date()
  const found = await findByEmail(db, email)
  if (!found) return 'unknown'
  const { emit } = events([webhookQueue(config)])
  return db.transaction().execute(async (tx) => {
    const operator = await lock(tx, found.id)
    if (!operator?.is_active) return 'deactivated'
    const { id } = operator
    const cleared = await twoFactor({ config, now, vault }).reset(tx, { kind: 'operator', id })
    const revoked = await revokeSessionsOf(tx, 'operator', id, now())
    for (const service of ['operator', 'operator_mfa']) {
      await clear(tx, service, { username: email })
    }
    const links = accountLinks({ config, now, vault })
    const { link, expires_at } = await links.create(tx, { operator_id: id }, 'password_reset', {
      mailed: false,
    })
    const data = { operator_id: id, email, sessions_revoked: revoked }
    await emit(tx, OperatorRescued, { org_id: null }, data)
    await insertEntries(tx, [
      {
        operator_id: null,
        operator_email: null,
        caller_scope: 'platform',
        action: 'rescue_operator',
        target_type: 'operator_id',
        target_id: id,
        organization_id: null,
        request_body: { reason, source: 'command line' },
        result: 'success',
        status_code: 200,
        ip_address: '',
        correlation_id: null,
        created_at: now().toISOString(),
      },
    ])
    return { email, mfa_cleared: cleared, sessions_revoked: revoked, link, expires_at }
  })
}
