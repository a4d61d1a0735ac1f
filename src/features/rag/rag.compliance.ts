import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

const AT_ONCE = 1000

const affected = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint }) => Number(numAffectedRows)

/**
 * Removes a person from the index: all of their mailbox, and documents from or to their address.
 * What is in the mailboxes of others is theirs. Answers how many documents went.
 */
export const eraseFromIndex = async (
  db: Db,
  { organization_id, email }: { organization_id: string; email: string },
): Promise<number> =>
  affected(
    await sql`
      delete from rag_documents documents
      where organization_id = ${organization_id} and (
        email_account_id in (select id from email_accounts where email = ${email})
        or (source = 'api' and exists (
          select from regexp_split_to_table(
            lower(concat_ws(' ', sender, recipients)), '[][ <>,;:"()]+') as word
          where word = lower(${email}))))`.execute(db),
  )

/** Removes documents that are too old, some at a time; of mailboxes under a hold none. */
export const expireFromIndex = async (
  db: Db,
  { organization_id, before, held }: { organization_id: string; before: Date; held: string[] },
): Promise<number> =>
  affected(
    await sql`
      delete from rag_documents where id in (
        select documents.id from rag_documents documents
        left join email_accounts on email_accounts.id = documents.email_account_id
        where documents.organization_id = ${organization_id}
          and coalesce(documents.date, documents.indexed_at) < ${before.toISOString()}::timestamptz
          and not coalesce(email_accounts.email, '') = any(${held}::text[])
        limit ${AT_ONCE})`.execute(db),
  )
