import type { Core } from '../../../core.ts'
import type { Connection } from '../imap/connection.ts'
import type { MailAccount } from './accounts.repository.ts'
import { applyChanges } from './apply-changes.ts'
import { distrust, type MailboxRow, mailboxRows, uidsOf } from './mailboxes.repository.ts'
import { type AccountChanges, readAccount } from './read-account.ts'
import { allUids, isGone } from './read-folder.ts'

const MAX_STEPS = 1000

interface Syncing {
  core: Pick<Core, 'db' | 'workers'>
  account: MailAccount
  connection: Connection
  withStructure: boolean
  /** Adds older messages too; otherwise only the newest of an account without an index. */
  isBackground: boolean
}

/**
 * Compares the index with the mail server until it has every new message. `hasOlder` says that older
 * messages are still missing; each call in the background adds some of them. The mail server is right
 * in every case: a process that was killed between a change there and here leaves the rest to this
 * comparison.
 */
export async function syncAccount(syncing: Syncing): Promise<{ hasOlder: boolean }> {
  const { account, core } = syncing
  const reader = { ...syncing, organizationId: account.organizationId }
  for (let step = 0; step < MAX_STEPS; step++) {
    const rows = await mailboxRows(core.db, account.id)
    const read = await readAccount(reader, knownOf(rows), syncing.isBackground)
    if (isSame(rows, read)) return { hasOlder: read.hasOlder }
    const { isOutdated, doubtful } = await applyChanges(core.db, account.id, read)
    if (isOutdated || read.isCut) continue
    const isRepaired = await compareAll(syncing, read, doubtful)
    if (!isRepaired) return { hasOlder: read.hasOlder }
  }
  throw new Error(`the index of ${account.id} does not come to an end`)
}

const knownOf = (rows: readonly MailboxRow[]) =>
  new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        uidValidity: row.uid_validity,
        modseq: row.modseq,
        uidNext: row.uid_next,
        indexedFrom: row.indexed_from,
      },
    ]),
  )

function isSame(rows: readonly MailboxRow[], { folders, changes }: AccountChanges): boolean {
  if (changes.size > 0 || rows.length !== folders.length) return false
  const byId = new Map(rows.map((row) => [row.id, row]))
  return folders.every((folder) => {
    const row = byId.get(folder.id)
    return (
      row?.path === folder.path &&
      row.role === folder.role &&
      row.is_subscribed === folder.isSubscribed
    )
  })
}

/** Returns whether a mailbox was wrong and has to be read again. */
async function compareAll(
  { account, connection, core }: Syncing,
  { folders }: AccountChanges,
  doubtful: readonly string[],
): Promise<boolean> {
  let isWrong = false
  for (const { id, path } of folders) {
    if (!doubtful.includes(id)) continue
    const there = await allUids(connection, path).catch((error) => {
      if (isGone(error)) return undefined
      throw error
    })
    if (!there) continue
    const row = (await mailboxRows(core.db, account.id)).find((one) => one.id === id)
    const here = await uidsOf(core.db, account.id, id)
    const present = new Set(there.filter((uid) => uid < (row?.uid_next ?? 0)))
    if (here.length === present.size && here.every((uid) => present.has(uid))) continue
    await distrust(core.db, account.id, id)
    isWrong = true
  }
  return isWrong
}
