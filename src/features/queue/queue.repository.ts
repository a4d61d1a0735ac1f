import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import { NO_OWNER, type Owner, type OwnerOf } from './queue-owners.ts'

/**
 * The owners of queued messages, by the login that the mail log names. The sender is no proof:
 * mail from outside may carry the address of any tenant. A queue id that two logs know under
 * different logins has no owner.
 */
export async function findOwners(db: Db, queueIds: readonly string[]): Promise<OwnerOf> {
  if (queueIds.length === 0) return () => NO_OWNER
  const { rows } = await sql<Owner & { queue_id: string }>`
    select l.queue_id, min(d.organization_id) as org_id, min(d.domain) as domain
    from mail_log_messages l
    join addresses a on a.address = lower(l.message ->> 'saslUsername') and a.claim_id = ''
    left join email_accounts m on a.kind = 'mailbox' and m.id = a.owner_id
    left join smtp_credentials c on a.kind = 'smtp_credential' and c.id = a.owner_id
    join domains d on d.id = coalesce(m.domain_id, c.domain_id)
    where l.queue_id = any(${queueIds}::text[])
    group by l.queue_id
    having count(distinct d.id) = 1`.execute(db)
  const owners = new Map(
    rows.map(({ queue_id, org_id, domain }): [string, Owner] => [queue_id, { org_id, domain }]),
  )
  return (queueId) => owners.get(queueId) ?? NO_OWNER
}

/** The organizations of the domains that a caller may see, by name. */
export async function findDomainNames(db: Db, scope: Scope): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('domains')
    .select(['domain', 'organization_id'])
    .where(inScope('domains', scope))
    .execute()
  return new Map(rows.map(({ domain, organization_id }) => [domain, organization_id]))
}
