import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { domainOf } from '../../lib/mail-address.ts'
import type { Person } from './personal-data/personal-table.ts'

const columns = ['id', 'organization_id', 'domain_id', 'email', 'status'] as const

/** Several organizations may prepare a mailbox until one of them proves that it owns the domain. */
export const findMailbox = (db: Db, email: string) =>
  db
    .selectFrom('email_accounts')
    .select(columns)
    .where('email', '=', email)
    .orderBy(({ selectFrom, ref }) =>
      selectFrom('domains')
        .select('ownership_verified_at')
        .where('domains.id', '=', ref('email_accounts.domain_id')),
    )
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()

interface Request {
  user_email: string
  account_id: string | null
  organization_id: string | null
  created_at: string
}

/**
 * The person of an export or an erasure, and the same address as a mailbox that another organization had
 * prepared before the request, for a domain that it has not proven to own.
 */
export async function personsOf(db: Db, request: Request): Promise<Person[]> {
  const { user_email: email, account_id, organization_id, created_at } = request
  const rows = await db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .select(['email_accounts.id', 'email_accounts.organization_id'])
    .where('email_accounts.email', '=', email)
    .where(({ or, and, eb }) =>
      or([
        eb('email_accounts.id', '=', account_id ?? ''),
        and([
          eb('email_accounts.created_at', '<=', created_at),
          eb('domains.ownership_verified_at', 'is', null),
        ]),
      ]),
    )
    .orderBy('email_accounts.id')
    .execute()
  // The mailbox may be gone already: an erasure goes on after a crash.
  const isThere = rows.some(({ id }) => id === account_id)
  const prepared = rows.filter(({ id }) => id !== account_id)
  return [
    { email, account_id: isThere ? account_id : null, organization_id },
    ...prepared.map((row) => ({ email, account_id: row.id, organization_id: row.organization_id })),
  ]
}

/** Returns whether Dovecot can open the mailbox. Mailboxes of unproven domains have no mail. */
export async function hasMail(db: Db, email: string): Promise<boolean> {
  const { rows } = await sql`select username from edge.mailbox(${email})`.execute(db)
  return rows.length > 0
}

/** The organization that owns the domain of an address, also without a mailbox. */
export const findOrganization = async (db: Db, email: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom('domains')
      .select('organization_id')
      .where('domain', '=', domainOf(email))
      .where('ownership_verified_at', 'is not', null)
      .executeTakeFirst()
  )?.organization_id

/** The newest mailbox with this address that was deleted while its mail is still on disk. */
const findDeleted = (db: Db, email: string) =>
  db
    .selectFrom('deleted_mailboxes')
    .select('organization_id')
    .where('email', '=', email)
    .orderBy('deleted_at', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Resolves an address; the person may have no mailbox, and be unknown. */
export async function findPerson(db: Db, email: string): Promise<Person> {
  const mailbox = await findMailbox(db, email)
  if (mailbox) return { email, account_id: mailbox.id, organization_id: mailbox.organization_id }
  const deleted = await findDeleted(db, email)
  const organization_id = deleted?.organization_id ?? (await findOrganization(db, email)) ?? null
  return { email, account_id: null, organization_id }
}

export const isSharedMailbox = async (db: Db, email: string): Promise<boolean> =>
  (await db
    .selectFrom('shared_mailboxes')
    .select('id')
    .where('email', '=', email)
    .where('status', '=', 'active')
    .executeTakeFirst()) !== undefined

/** Locks the domain first, as every change of a mailbox does. */
export async function lockMailbox(tx: Tx, id: string, domainId: string) {
  await tx.selectFrom('domains').select('id').where('id', '=', domainId).forUpdate().execute()
  return tx
    .selectFrom('email_accounts')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Serializes placing a legal hold with the deletions that a hold forbids: the second of two concurrent
 * transactions sees the result of the first.
 */
export const lockOrganization = (tx: Tx, id: string) =>
  tx
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()

/** Locks the organizations of these persons, in the order of their ids. */
export async function lockOrganizationsOf(tx: Tx, persons: readonly Person[]): Promise<void> {
  const ids = new Set(persons.flatMap(({ organization_id }) => organization_id ?? []))
  for (const id of [...ids].sort()) await lockOrganization(tx, id)
}
