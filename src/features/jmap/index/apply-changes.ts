import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { addMessages } from './add-messages.ts'
import { applyFolders } from './apply-folders.ts'
import { type Change, lockAccount, recordChanges } from './change-log.ts'
import { recount } from './counts.ts'
import { destroyOrphans } from './orphans.ts'
import type { AccountChanges } from './read-account.ts'
import type { FolderChanges, Mark, UidRange } from './read-folder.ts'

export interface Applied {
  /** Another process was faster: the changes were read against an index that is gone. */
  isOutdated: boolean
  /** Mailboxes whose index does not have as many messages as the folder. */
  doubtful: string[]
}

/** Brings the index up to what was read, in one transaction. */
export function applyChanges(db: Db, accountId: string, read: AccountChanges): Promise<Applied> {
  return db.transaction().execute(async (tx) => {
    await lockAccount(tx, accountId)
    const before = new Map([...read.changes].map(([id, { before }]) => [id, before]))
    if (!(await isCurrent(tx, accountId, before))) return { isOutdated: true, doubtful: [] }
    const touched = new Touched()
    const changes: Change[] = await applyFolders(tx, accountId, read, touched)
    for (const [mailboxId, folder] of read.changes) {
      await removePlaces(tx, accountId, mailboxId, folder, touched)
      await setFlags(tx, accountId, mailboxId, folder, touched)
      changes.push(...(await addMessages(tx, accountId, mailboxId, folder.added, touched)))
      await saveMark(tx, accountId, mailboxId, folder.after)
    }
    changes.push(...(await refreshEmails(tx, accountId, touched)))
    if (!read.isCut && !read.hasOlder)
      changes.push(...(await destroyOrphans(tx, accountId, touched)))
    changes.push(...(await recount(tx, accountId, touched, changes)))
    await recordChanges(tx, accountId, changes)
    return { isOutdated: false, doubtful: await doubtfulOf(tx, accountId, read) }
  })
}

/** The changes made by the steps of one transaction. */
export class Touched {
  readonly emails = new Set<string>()
  readonly created = new Set<string>()
  readonly threads = new Set<string>()
}

async function isCurrent(
  tx: Tx,
  accountId: string,
  expected: ReadonlyMap<string, Mark | undefined>,
): Promise<boolean> {
  const rows = await tx
    .selectFrom('jmap_mailboxes')
    .select(['id', 'uid_validity', 'modseq', 'uid_next', 'indexed_from'])
    .where('account_id', '=', accountId)
    .execute()
  const current = new Map(rows.map((row) => [row.id, row]))
  return [...expected].every(([id, mark]) => {
    const row = current.get(id)
    if (!row || !mark) return row === undefined && mark === undefined
    return (
      row.uid_validity === mark.uidValidity &&
      row.modseq === mark.modseq &&
      row.uid_next === mark.uidNext &&
      row.indexed_from === mark.indexedFrom
    )
  })
}

async function removePlaces(
  tx: Tx,
  accountId: string,
  mailboxId: string,
  { isReset, vanished }: FolderChanges,
  touched: Touched,
): Promise<void> {
  if (!isReset && vanished.length === 0) return
  const gone = tx
    .deleteFrom('jmap_places')
    .where('account_id', '=', accountId)
    .where('mailbox_id', '=', mailboxId)
    .$if(!isReset, (query) => query.where(inRanges(vanished)))
  for (const { email_id } of await gone.returning('email_id').execute())
    touched.emails.add(email_id)
}

function inRanges(ranges: readonly UidRange[]) {
  const from = ranges.map(([first]) => String(first))
  const to = ranges.map(([, last]) => String(last))
  return sql<boolean>`exists (
    select from unnest(${from}::text[], ${to}::text[]) as gone (first, last)
    where jmap_places.uid between gone.first::bigint and gone.last::bigint)`
}

async function setFlags(
  tx: Tx,
  accountId: string,
  mailboxId: string,
  { flags }: FolderChanges,
  touched: Touched,
): Promise<void> {
  if (flags.length === 0) return
  const uids = flags.map(({ uid }) => String(uid))
  const keywords = flags.map((one) => one.keywords.join(' '))
  const { rows } = await sql<{ email_id: string }>`
    update jmap_places
    set keywords = string_to_array(changed.keywords, ' ')
    from unnest(${uids}::text[], ${keywords}::text[]) as changed (uid, keywords)
    where jmap_places.account_id = ${accountId} and jmap_places.mailbox_id = ${mailboxId}
      and jmap_places.uid = changed.uid::bigint
    returning jmap_places.email_id`.execute(tx)
  for (const { email_id } of rows) touched.emails.add(email_id)
}

async function saveMark(tx: Tx, accountId: string, mailboxId: string, mark: Mark): Promise<void> {
  await tx
    .updateTable('jmap_mailboxes')
    .set({
      uid_validity: mark.uidValidity,
      modseq: mark.modseq,
      uid_next: mark.uidNext,
      indexed_from: mark.indexedFrom,
    })
    .where('account_id', '=', accountId)
    .where('id', '=', mailboxId)
    .execute()
}

/** A message has the keywords of all its copies. One without a place waits for `destroyOrphans`. */
async function refreshEmails(tx: Tx, accountId: string, touched: Touched): Promise<Change[]> {
  if (touched.emails.size === 0) return []
  const { rows } = await sql<{ id: string; thread_id: string; is_orphan: boolean }>`
    update jmap_emails e
    set keywords = now.keywords,
      is_unread = not now.keywords && array['$seen', '$draft'] and now.places > 0,
      is_orphan = now.places = 0
    from (
      select touched.id, count(p.uid) as places,
        coalesce((
          select array_agg(distinct word order by word)
          from jmap_places k, unnest(k.keywords) as word
          where k.account_id = ${accountId} and k.email_id = touched.id), '{}') as keywords
      from unnest(${[...touched.emails]}::text[]) as touched (id)
      left join jmap_places p on p.account_id = ${accountId} and p.email_id = touched.id
      group by touched.id
    ) as now
    where e.account_id = ${accountId} and e.id = now.id
    returning e.id, e.thread_id, e.is_orphan`.execute(tx)
  const changes: Change[] = []
  for (const { id, thread_id, is_orphan } of rows) {
    touched.threads.add(thread_id)
    if (!is_orphan && !touched.created.has(id))
      changes.push({ kind: 'Email', id, action: 'updated' })
  }
  return changes
}

async function doubtfulOf(tx: Tx, accountId: string, read: AccountChanges): Promise<string[]> {
  const complete = [...read.changes].filter(
    ([, { after, isCut }]) => !isCut && after.indexedFrom <= 1,
  )
  if (complete.length === 0) return []
  const rows = await tx
    .selectFrom('jmap_places')
    .select((eb) => ['mailbox_id', eb.fn.countAll<number>().as('places')])
    .where('account_id', '=', accountId)
    .where(
      'mailbox_id',
      'in',
      complete.map(([id]) => id),
    )
    .groupBy('mailbox_id')
    .execute()
  const places = new Map(rows.map((row) => [row.mailbox_id, Number(row.places)]))
  return complete
    .filter(([id, { messages }]) => (places.get(id) ?? 0) !== messages)
    .map(([id]) => id)
}
