import { hostname } from 'node:os'
import type { Core } from '../../../core.ts'
import { occurrence } from '../../../events/events.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { ArchiveStored } from '../archive.events.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { StorageAway } from '../storage/object-storage.ts'
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
      try {
        await uploadAll(core, storages, spool, files, counts)
      } catch (error) {
        counts.failed++
        await report(spoolId, messageOf(error))
        throw error
      }
      await report(spoolId, null)
      return files.length === BATCH_SIZE
    },
  }
}

async function uploadAll(
  core: Core,
  storages: Storages,
  spool: Spool,
  files: readonly archive.Waiting[],
  counts: UploadCounts,
): Promise<void> {
  const { current } = storages
  if (current === undefined || files.length === 0) return
  const storage = storages.of(current)
  const uploaded: archive.Waiting[] = []
  let failure: unknown
  const rest = files.values()
  const lane = async () => {
    for (const file of rest) {
      if (failure !== undefined) return
      try {
        const sealed = await spool.read(file.storage_key)
        if (sealed) {
          await storage.put(file.storage_key, sealed)
          uploaded.push(file)
        } else await missing(core, file)
      } catch (error) {
        failure = error
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  if (uploaded.length > 0) {
    await mark(core, storages, uploaded)
    for (const { storage_key } of uploaded) await spool.remove(storage_key)
    counts.uploaded += uploaded.length
  }
  if (failure !== undefined) throw failure
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

/** The file was uploaded by another process just now, or it was removed. */
async function missing({ db, log, now }: Core, { id, storage_key }: archive.Waiting) {
  const [row] = await db
    .selectFrom('archived_messages')
    .select('storage_type')
    .where('id', '=', id)
    .execute()
  if (row?.storage_type !== 'spool') return
  log.error({ storage_key, alert: true }, 'a file of the archive spool is missing')
  await archive.retryLater(db, id, new Date(now().getTime() + HOUR_MS))
}

const messageOf = (error: unknown): string =>
  error instanceof StorageAway ? error.message : `upload failed: ${(error as Error).message}`
