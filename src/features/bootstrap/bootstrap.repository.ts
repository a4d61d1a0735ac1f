import { sql } from 'kysely'
import type { Tx } from '../../database/database.ts'

const LOCK = 5_377_002

/** Serializes bootstraps: the second one finds an organization and is rejected. */
export const lock = (tx: Tx) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)

export const anyOrganization = (tx: Tx) =>
  tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst()

export interface FirstTenant {
  organizationId: string
  organizationName: string
  domainId: string
  domain: string
  accountId: string
  userId: string
  email: string
  passwordHash: string
  now: string
}

/** Returns the domain. */
export async function insertFirstTenant(tx: Tx, first: FirstTenant) {
  const { organizationId, domainId, email, now } = first
  await tx
    .insertInto('organizations')
    .values({ id: organizationId, name: first.organizationName, admin_email: email })
    .execute()
  const domain = await tx
    .insertInto('domains')
    .values({
      id: domainId,
      organization_id: organizationId,
      domain: first.domain,
      verified_at: now,
      ownership_verified_at: now,
    })
    .returning(['id', 'dkim_selector'])
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('email_accounts')
    .values({
      id: first.accountId,
      organization_id: organizationId,
      domain_id: domainId,
      email,
      name: 'Admin',
      password_hash: first.passwordHash,
      password_changed_at: now,
    })
    .execute()
  await tx
    .insertInto('dashboard_users')
    .values({
      id: first.userId,
      organization_id: organizationId,
      email,
      password_hash: first.passwordHash,
      role: 'owner',
    })
    .execute()
  return domain
}
