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
  /** UIDs of the source that this job is about, in order. */
  uids: readonly number[]
  unaccounted: Unaccounted | undefined
}

/**
 * What is left to copy, in portions that fit into memory, while it goes through the folder. On the
 * way it carries over flags and writes down copies that nobody had accounted for.
 */
export async function* scan(run: Run, given: Scan): AsyncGenerator<Wanted[]> {
  let chunk: Wanted[] = []
  let bytes = 0
  for (let start = 0; start < given.uids.length; start += WINDOW) {
    for (const one of await look(run, given, given.uids.slice(start, start + WINDOW))) {
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

/** What is new among some messages. */
async function look(run: Run, given: Scan, uids: readonly number[]): Promise<Wanted[]> {
  const { source, target, folder } = given
  const [first = 0] = uids
  const last = uids.at(-1) ?? 0
  const known = new Map(
    (await copied.copiesIn(run.core.db, folder.id, first, last)).map((copy) => [
      copy.source_uid,
      copy,
    ]),
  )
  const asked = new Set(uids)
  const fresh: Wanted[] = []
  const changes: FlagChange[] = []
  const found: copied.Copy[] = []
  const query = { uid: true, flags: true, internalDate: true, size: true } as const
  for (const one of await source.fetchAll(`${first}:${last}`, query, { uid: true })) {
    // What was not asked for is not believed, and nothing twice.
    if (!asked.delete(one.uid)) continue
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
