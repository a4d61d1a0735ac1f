import type { ImapFlow } from 'imapflow'
import * as copied from './copied.repository.ts'
import { carryFlags, type FlagChange } from './flag-changes.ts'
import { LARGE_BYTES, type Wanted } from './load.ts'
import { recordCopies, recordFailure } from './outcome.ts'
import { flagsOf, type Run, suspectKey } from './run.ts'
import type { Unaccounted } from './unaccounted.ts'

const WINDOW = 250
const CHUNK_MESSAGES = 100
const CHUNK_BYTES = 512 * 1024
const MAX_BREAKS = 3

interface Scan {
  source: ImapFlow
  target: ImapFlow
  folder: copied.FolderRow
  /** The source UIDs to copy, in ascending order. */
  uids: readonly number[]
  unaccounted: Unaccounted | undefined
}

/**
 * Goes through a folder and yields the messages to copy, in chunks that fit into memory. Also applies
 * flag changes and records copies that exist at the target but were not recorded.
 */
export async function* scan(run: Run, given: Scan): AsyncGenerator<Wanted[]> {
  let chunk: Wanted[] = []
  let bytes = 0
  for (let start = 0; start < given.uids.length; start += WINDOW) {
    for (const one of await scanWindow(run, given, given.uids.slice(start, start + WINDOW))) {
      const breaks = run.suspects.get(suspectKey(given.folder.source_path, one.uid)) ?? 0
      if (breaks >= MAX_BREAKS) {
        await recordFailure(run, given.folder.source_path, {
          uid: one.uid,
          type: 'connection_lost',
          detail: `The connection broke ${breaks} times while this message was on its way`,
        })
        continue
      }
      if (breaks > 0 || one.size > LARGE_BYTES) {
        yield [one]
        continue
      }
      if (chunk.length > 0 && (chunk.length >= CHUNK_MESSAGES || bytes + one.size > CHUNK_BYTES)) {
        yield chunk
        chunk = []
        bytes = 0
      }
      chunk.push(one)
      bytes += one.size
    }
  }
  if (chunk.length > 0) yield chunk
}

/** Returns the messages of a window that are not copied yet. */
async function scanWindow(run: Run, given: Scan, uids: readonly number[]): Promise<Wanted[]> {
  const { source, target, folder } = given
  const [first = 0] = uids
  const last = uids.at(-1) ?? 0
  const known = new Map(
    (await copied.copiesIn(run.core.db, folder.id, first, last)).map((copy) => [
      copy.source_uid,
      copy,
    ]),
  )
  const expected = new Set(uids)
  const fresh: Wanted[] = []
  const changes: FlagChange[] = []
  const found: copied.Copy[] = []
  const query = { uid: true, flags: true, internalDate: true, size: true } as const
  for (const one of await source.fetchAll(`${first}:${last}`, query, { uid: true })) {
    // A server may return other UIDs, or one twice.
    if (!expected.delete(one.uid)) continue
    const flags = flagsOf(one.flags)
    const copy = known.get(one.uid)
    if (!copy) {
      fresh.push({ uid: one.uid, size: one.size ?? 0, date: dateOf(one.internalDate), flags })
    } else if (copy.flags !== flags.join(' ') && copy.target_uid !== null) {
      const before = copy.flags.split(' ').filter((flag) => flag !== '')
      changes.push({ sourceUid: one.uid, targetUid: copy.target_uid, before, now: flags })
    }
  }
  await carryFlags(run, target, folder, changes)
  if (!given.unaccounted) return fresh
  const there = await given.unaccounted.take(fresh)
  for (const [uid, one] of there) {
    found.push({ source_uid: uid, target_uid: one.uid, flags: one.flags.join(' ') })
  }
  const own = found.filter(({ target_uid }) => Number(target_uid) >= folder.job_floor)
  await recordCopies(run, folder, found, own.length)
  return fresh.filter(({ uid }) => !there.has(uid))
}

function dateOf(sent: Date | string | undefined): Date {
  const date = sent instanceof Date ? sent : new Date(sent ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? new Date(0) : date
}
