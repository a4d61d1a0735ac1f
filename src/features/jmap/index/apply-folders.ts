import type { Tx } from '../../../database/database.ts'
import type { Touched } from './apply-changes.ts'
import type { Change } from './change-log.ts'
import type { AccountChanges } from './read-account.ts'

type ListedFolder = AccountChanges['folders'][number]

/** Creates, changes and removes mailboxes so that they are those of the mail server. */
export async function applyFolders(
  tx: Tx,
  accountId: string,
  { folders, changes }: AccountChanges,
  touched: Touched,
): Promise<Change[]> {
  const rows = await tx
    .selectFrom('jmap_mailboxes')
    .select(['id', 'path', 'name', 'parent_id', 'role', 'is_subscribed'])
    .where('account_id', '=', accountId)
    .execute()
  const known = new Map(rows.map((row) => [row.id, row]))
  const idByPath = new Map(folders.map(({ id, path }) => [path, id]))
  const recorded: Change[] = []
  for (const folder of folders) {
    const facts = factsOf(folder, idByPath)
    const row = known.get(folder.id)
    known.delete(folder.id)
    if (!row) {
      // Without its changes the folder could not be opened; the next step adds it.
      const mark = changes.get(folder.id)?.after
      if (!mark) continue
      await tx
        .insertInto('jmap_mailboxes')
        .values({ account_id: accountId, id: folder.id, uid_validity: mark.uidValidity, ...facts })
        .execute()
      recorded.push({ kind: 'Mailbox', id: folder.id, action: 'created' })
    } else if (isDifferent(row, facts)) {
      await tx
        .updateTable('jmap_mailboxes')
        .set(facts)
        .where('account_id', '=', accountId)
        .where('id', '=', folder.id)
        .execute()
      recorded.push({ kind: 'Mailbox', id: folder.id, action: 'updated' })
    }
  }
  for (const id of known.keys()) recorded.push(await removeMailbox(tx, accountId, id, touched))
  return recorded
}

const factsOf = (folder: ListedFolder, idByPath: ReadonlyMap<string, string>) => ({
  path: folder.path,
  name: folder.name,
  parent_id: (folder.parentPath !== null && idByPath.get(folder.parentPath)) || null,
  role: folder.role,
  is_subscribed: folder.isSubscribed,
})

type Facts = ReturnType<typeof factsOf>

const isDifferent = (row: Facts, facts: Facts): boolean =>
  (Object.keys(facts) as (keyof Facts)[]).some((name) => row[name] !== facts[name])

async function removeMailbox(
  tx: Tx,
  accountId: string,
  id: string,
  touched: Touched,
): Promise<Change> {
  const gone = await tx
    .deleteFrom('jmap_places')
    .where('account_id', '=', accountId)
    .where('mailbox_id', '=', id)
    .returning('email_id')
    .execute()
  for (const { email_id } of gone) touched.emails.add(email_id)
  await tx
    .deleteFrom('jmap_mailboxes')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .execute()
  return { kind: 'Mailbox', id, action: 'destroyed' }
}
