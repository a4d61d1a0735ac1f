import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

const AT_ONCE = 1000

const affected = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint }) => Number(numAffectedRows)

interface Person {
  email: string
  organization_id: string | null
}

/**
 * The documents of a person's mailbox, and API documents from or to the e-mail address; of all organizations
 * when none owns the address. Messages in other mailboxes belong to their holders.
 */
export const documentsAbout = ({ email, organization_id }: Person) => sql<SqlBool>`
  ${organization_id === null ? sql`true` : sql`organization_id = ${organization_id}`} and (
    email_account_id in (select id from email_accounts where email = ${email})
    or (source = 'api' and exists (
      select from regexp_split_to_table(
        lower(concat_ws(' ', sender, recipients)), '[][ <>,;:"()]+') as word
      where word = lower(${email}))))`

/** Removes a person from the index. Returns the number of removed documents. */
export const eraseFromIndex = async (db: Db, person: Person): Promise<number> =>
  affected(await sql`delete from rag_documents where ${documentsAbout(person)}`.execute(db))

interface Expiring {
  organization_id: string
  before: Date
  held: string[]
}

/** Expired documents, except those of mailboxes under a legal hold. */
const expired = ({ organization_id, before, held }: Expiring) => sql`
  from rag_documents documents
  left join email_accounts on email_accounts.id = documents.email_account_id
  where documents.organization_id = ${organization_id}
    and coalesce(documents.date, documents.indexed_at) < ${before.toISOString()}::timestamptz
    and not coalesce(email_accounts.email, '') = any(${held}::text[])`

export async function countExpired(db: Db, expiring: Expiring): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count ${expired(expiring)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Removes a batch of expired documents. */
export const expireFromIndex = async (db: Db, expiring: Expiring): Promise<number> =>
  affected(
    await sql`
      delete from rag_documents where id in (
        select documents.id ${expired(expiring)} limit ${AT_ONCE})`.execute(db),
  )
