import { hostname } from 'node:os'
import type { Core } from '../../../core.ts'
import { occurrence } from '../../../events/events.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { ArchiveStored } from '../archive.events.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { ObjectRefused, StorageAway } from '../storage/object-storage.ts'
import type { Storages } from '../storage/storage.ts'
import * as archive from '../store/archive.repository.ts'
import * as deletions from '../store/deletions.repository.ts'
import * as spools from '../store/spools.repository.ts'

const BATCH_SIZE = 64
const AT_ONCE = 8

/** Figures of this process since its start. */
export interface UploadCounts {
  uploaded: number
  failed: number
}

/**
 * Uploads the files of the spool of this machine, oldest first, and removes them. Two processes may upload
 * the same file: the object is the same, and only one of them marks the row.
 */
export function uploadSpool(core: Core, storages: Storages, counts: UploadCounts): Chore {
  const spool = openSpool(core.config)
  let reported: { problem: string | null; at: number } | undefined

  /** An unchanged state is reported once a minute. */
  async function report(spoolId: string, problem: string | null): Promise<void> {
    const at = performance.now()
    if (reported?.problem === problem && at - reported.at < MINUTE_MS) return
    await spools.report(core.db, spoolId, hostname(), problem, core.now())
    reported = { problem, at }
  }

  return {
    name: 'archive-drain',
    async round() {
      const { current } = storages
      if (current === undefined) return false
      const spoolId = await spool.id()
      const files = await archive.waiting(core.db, spoolId, core.now(), BATCH_SIZE)
      let later: number
      try {
        later = await uploadAll(core, storages, spool, files, counts)
      } catch (error) {
        counts.failed++
        await report(spoolId, messageOf(error))
        throw error
      }
      // Counting reads every waiting row, so it is left out while all goes well.
      const isWell = later === 0 && reported?.problem === null
      await report(spoolId, isWell ? null : await problemOfLater(core, spoolId))
      return files.length === BATCH_SIZE
    },
  }
}

/**
 * A file that cannot be uploaded is tried again later; the round ends only when the storage is away.
 * Returns the number of files that are tried again.
 */
async function uploadAll(
  core: Core,
  storages: Storages,
  spool: Spool,
  files: readonly archive.Waiting[],
  counts: UploadCounts,
): Promise<number> {
  const { current } = storages
  if (current === undefined || files.length === 0) return 0
  const storage = storages.of(current)
  const uploaded: archive.Waiting[] = []
  const failed: { file: archive.Waiting; error: unknown }[] = []
  let away: unknown
  const rest = files.values()
  const lane = async () => {
    for (const file of rest) {
      if (away !== undefined) return
      try {
        const sealed = await spool.read(file.storage_key)
        if (!sealed) throw new Missing('the file is missing')
        await storage.put(file.storage_key, sealed)
        uploaded.push(file)
      } catch (error) {
        if (error instanceof StorageAway && !(error instanceof ObjectRefused)) away = error
        else failed.push({ file, error })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  if (uploaded.length > 0) {
    await mark(core, storages, uploaded)
    for (const { storage_key } of uploaded) await spool.remove(storage_key)
    counts.uploaded += uploaded.length
  }
  for (const { file, error } of failed) await later(core, file, error)
  if (away !== undefined) throw away
  // Wrong rights of the folder or of the key of the storage: more files would fail as well.
  if (uploaded.length === 0 && failed.length > 1) throw failed[0]?.error
  counts.failed += failed.length
  return failed.length
}

async function mark(core: Core, storages: Storages, files: readonly archive.Waiting[]) {
  const { db, events, now } = core
  const type = storages.current as NonNullable<Storages['current']>
  const storage = storages.of(type)
  const ids = files.map(({ id }) => id)
  await db.transaction().execute(async (tx) => {
    const rows = await archive.setUploaded(tx, ids, type, now())
    await events.emitMany(
      tx,
      rows.map((row) =>
        occurrence(
          ArchiveStored,
          { org_id: row.organization_id },
          {
            archive_id: row.id,
            message_id: row.message_id,
            archive_location: storage.locationOf(row.storage_key),
            storage_type: type,
            compressed_size: row.stored_size,
            legal_hold: row.legal_hold,
          },
        ),
      ),
    )
  })
  const existing = await archive.existing(db, ids)
  for (const { id, storage_key } of files) {
    if (!existing.has(id)) await deletions.insert(db, type, storage_key, now())
  }
}

class Missing extends Error {}

/** Lets the files after this one go first, unless another process uploaded or deleted it just now. */
async function later(core: Core, { id, storage_key }: archive.Waiting, error: unknown) {
  if (!(await archive.retryLater(core.db, id, core.now()))) return
  const isMissing = error instanceof Missing
  const problem = isMissing ? 'a file of the archive spool is missing' : 'upload of a file failed'
  core.log.error({ err: error, storage_key, alert: true }, problem)
}

async function problemOfLater(core: Core, spoolId: string): Promise<string | null> {
  const count = await archive.countLater(core.db, spoolId, core.now())
  return count === 0 ? null : `${count} files cannot be uploaded and are tried again, see the log`
}

const messageOf = (error: unknown): string =>
  error instanceof StorageAway ? error.message : `upload failed: ${(error as Error).message}`
