import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'

export const ACCOUNTS = '/api/v1/mailboxes/email-accounts'
export const NEW_PASSWORD = 'another-passphrase-77'

interface Fields {
  email?: string
  name?: string
  status?: 'active' | 'inactive' | 'suspended'
  storage_quota?: number
  storage_used?: number
}

/** Inserts a mailbox into the database, for tests that need one without a login. */
export async function insertMailbox(
  app: App,
  of: { organizationId: string; domainId: string; domain: string },
  fields: Fields = {},
) {
  const id = ulid()
  const email = fields.email ?? `${id.toLowerCase()}@${of.domain}`
  await app.core.db
    .insertInto('email_accounts')
    .values({
      ...fields,
      id,
      email,
      organization_id: of.organizationId,
      domain_id: of.domainId,
      password_hash: 'none',
    })
    .execute()
  return { id, email, path: `${ACCOUNTS}/${id}` }
}

export const mailboxRow = (app: App, id: string) =>
  app.core.db.selectFrom('email_accounts').selectAll().where('id', '=', id).executeTakeFirst()

/** The events about a mailbox, in order. */
export const eventsOf = async (app: App, id: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ data }) => (data as { account_id?: string }).account_id === id)
    .map(({ event, org_id, domain, data }) => ({ event, org_id, domain, data }))
