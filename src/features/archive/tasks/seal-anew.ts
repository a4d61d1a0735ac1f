import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { archiveKeys } from '../sealing/keys.ts'
import { Damaged, sealMessage } from '../sealing/sealed-message.ts'
import type { StorageType } from '../storage/object-storage.ts'
import type { Storages } from '../storage/storage.ts'
import type { Stored } from '../store/archive.repository.ts'
import { keyOf } from '../store/keep-mail.ts'
import { Gone, readArchive } from '../store/read-archive.ts'
import { JobFailed, type JobWork } from './job-work.ts'
import * as sealed from './seal-anew.repository.ts'

const BATCH_SIZE = 50

/**
 * Seals the archive of an organization for its current recipients. The new object is in storage before the
 * row names it, and the old one is deleted after that, so that a crash at any time loses nothing.
 */
export async function sealAnew(core: Core, storages: Storages, { job, report, signal }: JobWork) {
  const { config, db, log, now } = core
  const { organization_id } = job
  const { current } = storages
  if (current === undefined) throw new JobFailed('this installation has no storage for an archive')
  const type: StorageType = current
  const storage = storages.of(type)
  const reader = readArchive(core, storages)
  const recipients = await archiveKeys(core).recipientsFor(organization_id)
  const texts = recipients.map(({ text }) => text)
  let after = job.position
  // Messages before the position count as done, also those that could not be sealed anew.
  await report({ total: job.done + (await sealed.countOld(db, organization_id, texts, after)) })
  for (;;) {
    const rows = await sealed.oldAfter(db, organization_id, texts, after, BATCH_SIZE)
    for (const row of rows) {
      signal.throwIfAborted()
      const outcome = await sealRow(row)
      after = row.id
      await report({ ...outcome, done: 1, position: after })
    }
    if (rows.length < BATCH_SIZE) return
  }

  async function sealRow(row: Stored): Promise<{ added?: number; failed?: number }> {
    // It is sealed for the current recipients, or will be found by the next job.
    if (row.storage_type === 'spool') return { failed: 1 }
    try {
      const made = await sealMessage(recipients, await reader.read(row))
      const name = `${ulid()}.${made.suffix}`
      const key = keyOf(config.ARCHIVE_S3_PREFIX, organization_id, now(), name)
      await sealed.announce(db, type, key, now())
      await storage.put(key, made.sealed)
      const moved = { type, key, texts, size: made.sealed.length }
      return { added: (await sealed.move(db, row, moved)) ? 1 : 0 }
    } catch (error) {
      if (error instanceof Gone) return {}
      if (!(error instanceof Damaged)) throw error
      log.error({ err: error, archive_id: row.id, alert: true }, 'an archived message is damaged')
      return { failed: 1 }
    }
  }
}
