import { sql } from 'kysely'
import type { Tx } from '../../database/database.ts'

const LOCK = 5_377_002

/** Bootstraps wait for each other; whoever comes second finds an organization. */
export const lock = (tx: Tx) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)

export const anyOrganization = (tx: Tx) =>
  tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst()

interface FirstTenant {
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

export async function insertFirstTenant(tx: Tx, first: FirstTenant): Promise<void> {
  const { organizationId, domainId, email, now } = first
  await tx
    .insertInto('organizations')
    .values({ id: organizationId, name: first.organizationName, admin_email: email })
    .execute()
  await tx
    .insertInto('domains')
    .values({
      id: domainId,
      organization_id: organizationId,
      domain: first.domain,
      verified_at: now,
    })
    .execute()
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
    })
    .execute()
}

/** Other processes remove their copy of the token file. */
export const tellBootstrapped = (tx: Tx, kind: 'organization' | 'operator') =>
  sql`select pg_notify('mailplane_access', ${`bootstrapped:${kind}`})`.execute(tx)
