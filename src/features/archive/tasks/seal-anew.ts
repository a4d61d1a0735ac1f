import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { archiveKeys } from '../sealing/keys.ts'
import { Damaged, sealMessage } from '../sealing/sealed-message.ts'
import type { Storages } from '../storage/storage.ts'
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
  const type = storages.current
  if (type === undefined) throw new JobFailed('this installation has no storage for an archive')
  const storage = storages.of(type)
  const reader = readArchive(core, storages)
  const recipients = await archiveKeys(core).recipientsFor(organization_id)
  const texts = recipients.map(({ text }) => text)
  let after = job.position
  if (after === '') {
    await report({ total: await sealed.countOld(db, organization_id, texts) })
  }
  for (;;) {
    const rows = await sealed.oldAfter(db, organization_id, texts, after, BATCH_SIZE)
    const counts = { done: 0, added: 0, failed: 0 }
    for (const row of rows) {
      signal.throwIfAborted()
      counts.done++
      after = row.id
      // It is sealed for the current recipients, or will be found by the next job.
      if (row.storage_type === 'spool') {
        counts.failed++
        continue
      }
      try {
        const made = await sealMessage(recipients, await reader.read(row))
        const name = `${ulid()}.${made.suffix}`
        const key = keyOf(config.ARCHIVE_S3_PREFIX, organization_id, now(), name)
        await sealed.announce(db, type, key, now())
        await storage.put(key, made.sealed)
        const isMoved = await sealed.move(db, row, { type, key, texts, size: made.sealed.length })
        if (isMoved) counts.added++
      } catch (error) {
        if (error instanceof Gone) continue
        if (!(error instanceof Damaged)) throw error
        counts.failed++
        log.error({ err: error, archive_id: row.id, alert: true }, 'an archived message is damaged')
      }
    }
    await report({ ...counts, position: after })
    if (rows.length < BATCH_SIZE) return
  }
}
