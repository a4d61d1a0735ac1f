import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'

export type SubmissionRow = Selectable<Tables['jmap_submissions']>

export const submissionRows = (db: Db, accountId: string, ids?: string[]) =>
  db
    .selectFrom('jmap_submissions')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(ids !== undefined, (query) => query.where(sql<boolean>`id = any(${ids ?? []}::text[])`))
    .orderBy('send_at')
    .orderBy('id')
    .execute()

export const insertSubmission = (tx: Tx, row: SubmissionRow) =>
  tx.insertInto('jmap_submissions').values(row).execute()

export async function deleteSubmission(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('jmap_submissions')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
