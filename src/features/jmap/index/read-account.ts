import { type Folder, listFolders } from '../imap/folders.ts'
import { mailboxIdOf } from './ids.ts'
import {
  type FolderChanges,
  isGone,
  type Mark,
  type Reader,
  readChanges,
  readOlder,
} from './read-folder.ts'

/** New messages of one step. A step is one transaction. */
const BATCH = 500
/** The newest messages of an account that has no index yet, so that its first answer comes soon. */
const FIRST = 100
/** Older messages of one step beside the requests. */
const OLDER = 2000

/** A mailbox as the index knows it. */
export interface KnownMailbox extends Mark {
  id: string
}

export interface AccountChanges {
  folders: (Folder & { id: string })[]
  changes: Map<string, FolderChanges>
  /** Messages that have arrived are missing: the next step must follow before anything is destroyed. */
  isCut: boolean
  /** Older messages are missing. */
  hasOlder: boolean
}

/** Reads the difference between the index and the mail server, in a bounded step. */
export async function readAccount(
  reader: Reader,
  known: ReadonlyMap<string, KnownMailbox>,
  isBackground: boolean,
): Promise<AccountChanges> {
  // The figures of an open folder are those of its last look.
  await reader.connection.leave()
  const listed = await listFolders(reader.connection)
  const folders = listed.map((folder) => ({ ...folder, id: mailboxIdOf(folder.guid) }))
  const changes = new Map<string, FolderChanges>()
  let budget = BATCH
  let isCut = false
  for (const folder of folders) {
    const before = known.get(folder.id)
    if (before && isUnchanged(folder, before)) continue
    const read = await unlessGone(() => readChanges(reader, folder.path, before, budget))
    if (!read) continue
    changes.set(folder.id, read)
    budget = Math.max(1, budget - read.added.length)
    isCut ||= read.isCut
  }
  const isNew = [...changes.values()].some(({ isReset }) => isReset)
  const older = isBackground ? OLDER : isNew ? FIRST : 0
  const hasOlder = await addOlder(reader, { folders, changes, known }, older)
  return { folders, changes, isCut, hasOlder }
}

const isUnchanged = (folder: Folder, { uidValidity, modseq, uidNext }: Mark): boolean =>
  folder.uidValidity === uidValidity && folder.modseq === modseq && folder.uidNext === uidNext

/** Returns whether older messages are left for the next step. */
async function addOlder(
  reader: Reader,
  {
    folders,
    changes,
    known,
  }: Pick<AccountChanges, 'folders' | 'changes'> & {
    known: ReadonlyMap<string, KnownMailbox>
  },
  budget: number,
): Promise<boolean> {
  let left = budget
  let hasOlder = false
  for (const { id, path, messages } of folders) {
    const read = changes.get(id) ?? unchanged(known.get(id), messages)
    if (!read || read.after.indexedFrom <= 1) continue
    if (left <= 0) return true
    const before = read.added.length
    const done = await unlessGone(async () => {
      await readOlder(reader, path, read, left)
      return true
    })
    if (!done) continue
    changes.set(id, read)
    left -= read.added.length - before
    hasOlder ||= read.after.indexedFrom > 1
  }
  return hasOlder
}

function unchanged(mark: KnownMailbox | undefined, messages: number): FolderChanges | undefined {
  if (!mark) return undefined
  const { uidValidity, modseq, uidNext, indexedFrom } = mark
  const before = { uidValidity, modseq, uidNext, indexedFrom }
  const nothing = { isReset: false, flags: [], vanished: [], isCut: false }
  return { ...nothing, before, after: { ...before }, added: [], messages }
}

async function unlessGone<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}
