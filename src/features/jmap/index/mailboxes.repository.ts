import type { Selectable } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'

export type MailboxRow = Selectable<Tables['jmap_mailboxes']>

export const mailboxRows = (db: Db, accountId: string): Promise<MailboxRow[]> =>
  db
    .selectFrom('jmap_mailboxes')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id')
    .execute()

export async function mailboxPaths(db: Db, accountId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('jmap_mailboxes')
    .select(['id', 'path'])
    .where('account_id', '=', accountId)
    .execute()
  return new Map(rows.map(({ id, path }) => [id, path]))
}

/** The index of a mailbox is made anew at the next comparison: no folder has this UIDVALIDITY. */
export const distrust = (db: Db, accountId: string, mailboxId: string) =>
  db
    .updateTable('jmap_mailboxes')
    .set({ uid_validity: 0 })
    .where('account_id', '=', accountId)
    .where('id', '=', mailboxId)
    .execute()

export const uidsOf = async (db: Db, accountId: string, mailboxId: string): Promise<number[]> => {
  const rows = await db
    .selectFrom('jmap_places')
    .select('uid')
    .where('account_id', '=', accountId)
    .where('mailbox_id', '=', mailboxId)
    .execute()
  return rows.map(({ uid }) => uid)
}
