import type { Core } from '../../../core.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { setOf } from '../../../mail/imap/messages.ts'
import { Refused } from '../../../mail/imap/wire.ts'
import type { Connection, OpenedFolder } from '../imap/connection.ts'
import { keywordsOf } from '../imap/keywords.ts'
import { listOf, pairsOf, readTokens, textOfToken } from '../imap/tokens.ts'
import { SUMMARY_ITEMS, type Summary } from './summary.ts'

const TASK_MS = 30_000
/** Messages of one command; the answer to it must fit into memory. */
const PER_COMMAND = 250
const summariesTask = taskIn<typeof import('./read-summaries.task.ts')>(
  'features/jmap/index/read-summaries',
)

/** The indexed part of a folder. */
export interface Mark {
  uidValidity: number
  modseq: number
  uidNext: number
  indexedFrom: number
}

export type UidRange = [from: number, to: number]

/** The difference between the index of a folder and the folder. */
export interface FolderChanges {
  before: Mark | undefined
  after: Mark
  /** The UIDs have no meaning any more, or there was no index. */
  isReset: boolean
  flags: { uid: number; keywords: string[] }[]
  vanished: UidRange[]
  added: Summary[]
  /** Messages arrived that are not in `added` yet. */
  isCut: boolean
  /** The number of messages in the folder. */
  messages: number
}

export interface Reader {
  core: Pick<Core, 'workers'>
  connection: Connection
  organizationId: string
  /** False after a structure exceeded the limit of a response: then it is not asked for. */
  withStructure: boolean
}

/** Reads what happened in a folder since `before`, with at most `budget` new messages. */
export async function readChanges(
  reader: Reader,
  path: string,
  before: Mark | undefined,
  budget: number,
): Promise<FolderChanges> {
  const now = await reader.connection.examine(path)
  if (before === undefined || before.uidValidity !== now.uidValidity) return fresh(now, before)
  const { flags, vanished } = await changedSince(reader.connection, before)
  const end = Math.min(now.uidNext, before.uidNext + budget)
  const added =
    end > before.uidNext ? await summaries(reader, path, [`${before.uidNext}:${end - 1}`]) : []
  return {
    before,
    after: { ...before, modseq: now.modseq, uidNext: end },
    isReset: false,
    flags,
    vanished,
    added: added.filter(({ uid }) => uid >= before.uidNext && uid < end),
    isCut: end < now.uidNext,
    messages: now.messages,
  }
}

/** The folder is read from its newest message on, see `readOlder`. */
const fresh = (now: OpenedFolder, before: Mark | undefined): FolderChanges => ({
  before,
  after: {
    uidValidity: now.uidValidity,
    modseq: now.modseq,
    uidNext: now.uidNext,
    indexedFrom: now.uidNext,
  },
  isReset: true,
  flags: [],
  vanished: [],
  added: [],
  isCut: false,
  messages: now.messages,
})

/** Adds older messages that are not in the index yet, newest first. */
export async function readOlder(
  reader: Reader,
  path: string,
  changes: FolderChanges,
  budget: number,
): Promise<void> {
  const { after } = changes
  if (after.indexedFrom <= 1) return
  await reader.connection.read(path)
  const uids: number[] = []
  let below = after.indexedFrom
  // UIDs may have large gaps, so the window grows.
  for (let window = budget; below > 1 && uids.length < budget; window *= 4) {
    const from = Math.max(1, below - window)
    uids.push(...(await uidsIn(reader.connection, from, below - 1)))
    below = from
  }
  uids.sort((one, other) => other - one)
  const taken = uids.slice(0, budget)
  after.indexedFrom = taken.length < uids.length ? (taken.at(-1) ?? 1) : below
  if (taken.length === 0) return
  const sets: string[] = []
  for (let at = 0; at < taken.length; at += PER_COMMAND) {
    sets.push(setOf(taken.slice(at, at + PER_COMMAND)))
  }
  const found = await summaries(reader, path, sets)
  const asked = new Set(taken)
  changes.added.push(...found.filter(({ uid }) => asked.has(uid)))
}

async function uidsIn(connection: Connection, from: number, to: number): Promise<number[]> {
  const { responses } = await connection.command(`UID FETCH ${from}:${to} (UID)`)
  return responses
    .map(({ text }) => Number(/^\* \d+ FETCH \(UID (\d+)/i.exec(text)?.[1] ?? 0))
    .filter((uid) => uid >= from && uid <= to)
}

/** The UIDs of all messages, to compare an index that is in doubt. */
export async function allUids(connection: Connection, path: string): Promise<number[]> {
  await connection.examine(path)
  return uidsIn(connection, 1, 0xffffffff)
}

/** RFC 7162: changed flags and removed messages in one command. */
async function changedSince(connection: Connection, { modseq, uidNext }: Mark) {
  const flags: FolderChanges['flags'] = []
  const vanished: UidRange[] = []
  if (uidNext <= 1) return { flags, vanished }
  const { responses } = await connection.command(
    `UID FETCH 1:${uidNext - 1} (UID FLAGS) (CHANGEDSINCE ${Math.max(1, modseq)} VANISHED)`,
  )
  for (const { text, literals } of responses) {
    const gone = /^\* VANISHED (?:\(EARLIER\) )?([\d:,]+)/i.exec(text)?.[1]
    if (gone) vanished.push(...rangesOf(gone))
    const [, , kind, values] = readTokens(text, literals)
    if (textOfToken(kind).toUpperCase() !== 'FETCH') continue
    const items = pairsOf(listOf(values))
    const uid = Number(textOfToken(items.get('UID')))
    if (uid > 0 && items.has('FLAGS')) {
      flags.push({ uid, keywords: keywordsOf(listOf(items.get('FLAGS')).map(textOfToken)) })
    }
  }
  return { flags, vanished }
}

const rangesOf = (set: string): UidRange[] =>
  set.split(',').map((range) => {
    const [from = 0, to = from] = range.split(':').map(Number)
    return from <= to ? [from, to] : [to, from]
  })

/** The mail server reads a set of messages while a worker thread takes the set before it apart. */
async function summaries(
  reader: Reader,
  path: string,
  sets: readonly string[],
): Promise<Summary[]> {
  const { connection, core, organizationId } = reader
  await connection.read(path)
  const items = reader.withStructure ? `${SUMMARY_ITEMS} BODYSTRUCTURE` : SUMMARY_ITEMS
  const limits = { owner: organizationId, timeLimitMs: TASK_MS }
  const found: Summary[] = []
  let parsing: Promise<Summary[]> = Promise.resolve([])
  for (const set of sets) {
    const fetching = connection.command(`UID FETCH ${set} (${items})`)
    const [{ responses }, parsed] = await Promise.all([fetching, parsing])
    found.push(...parsed)
    const plain = responses.map(({ text, literals }) => ({ text, literals }))
    parsing = core.workers.run(summariesTask, { responses: plain }, limits)
    // Awaited in the next round; until then a failure must not end the process.
    parsing.catch(() => {})
  }
  return [...found, ...(await parsing)]
}

/** The folder was deleted or renamed in the meantime. */
export const isGone = (error: unknown): boolean => error instanceof Refused
