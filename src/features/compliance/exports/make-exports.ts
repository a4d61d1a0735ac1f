import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease, underLease } from '../../../jobs/lease.ts'
import { archiveWriter } from '../../../lib/archive-writer.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts'
import { DoveadmAway } from '../../../mail/doveadm.ts'
import { ImapAway } from '../../../mail/imap-mailbox.ts'
import { SieveUnavailable } from '../../../mail/managesieve/errors.ts'
import { record } from '../trail/trail.repository.ts'
import { adoptFiles } from './adopt-files.ts'
import { fillArchive } from './archive-of-person.ts'
import { deleteParts } from './export-parts.repository.ts'
import * as exports from './exports.repository.ts'
import { sealArchive } from './sealed-archive.ts'

const LIFETIME_MS = 7 * DAY_MS
const LEASE_SECONDS = 60
const MAX_ATTEMPTS = 20
const MAX_PAUSE_MS = 10 * MINUTE_MS

/** Makes the requested archives, for each organization one at a time in each process. */
export const makeExports: Chore = {
  name: 'data-exports',
  begin: adoptFiles,
  isPatient: true,
  atOnce: 3,
  async round(core) {
    const lease = newLease(LEASE_SECONDS)
    const request = await exports.claim(core.db, lease, core.now())
    if (!request) return false
    await underLease(core, 'data_exports', { id: request.id }, lease, (lost) =>
      make(core, request, lease, lost),
    )
    return true
  },
}

/** Erasing the person ends the lease too, through `lost`. */
async function make(
  core: Core,
  request: exports.ClaimedExport,
  lease: Lease,
  lost: AbortSignal,
): Promise<void> {
  try {
    const archive = archiveWriter()
    const filling = fillArchive(core, request, archive).then((contents) => {
      archive.end()
      return contents
    })
    // A failure to fill the archive must also end the writing of it.
    filling.catch((error) => archive.output.destroy(error))
    const place = { exportId: request.id, attempt: lease.owner }
    const [sealed, contents] = await Promise.all([
      sealArchive(core, place, archive.output, lost),
      filling,
    ])
    if (!(await complete(core, request, lease, { ...sealed, contents }))) {
      await deleteParts(core.db, [sealed.file_name])
    }
  } catch (error) {
    if (!lost.aborted) await fail(core, request, lease, error as Error)
  }
}

type Archive = Awaited<ReturnType<typeof sealArchive>> & { contents: Record<string, number> }

const complete = (core: Core, request: exports.ClaimedExport, lease: Lease, archive: Archive) =>
  core.db.transaction().execute(async (tx) => {
    const at = core.now()
    const isStored = await exports.settle(tx, request.id, lease, {
      ...archive,
      status: 'completed',
      error_message: null,
      completed_at: at.toISOString(),
      expires_at: new Date(at.getTime() + LIFETIME_MS).toISOString(),
    })
    if (!isStored) return false
    const { organization_id, user_email, id: export_id } = request
    const details = { export_id, file_size: archive.file_size, contents: archive.contents }
    const action = 'data_export.completed'
    await record(tx, undefined, { action, organization_id, user_email, details }, at)
    return true
  })

/** Every failure is retried with growing pauses; the message names only an unreachable mail server. */
async function fail(core: Core, request: exports.ClaimedExport, lease: Lease, error: Error) {
  const isMailServerAway = [DoveadmAway, ImapAway, SieveUnavailable].some(
    (kind) => error instanceof kind,
  )
  core.log.warn({ err: error, export_id: request.id }, 'data export failed')
  const error_message = isMailServerAway
    ? `Mail server unavailable: ${error.message}`
    : 'The archive could not be created; the service log has the reason'
  if (request.attempts < MAX_ATTEMPTS) {
    const pause = Math.min(MAX_PAUSE_MS, 1000 * 2 ** request.attempts)
    const due_at = new Date(core.now().getTime() + pause).toISOString()
    await exports.settle(core.db, request.id, lease, { status: 'pending', error_message, due_at })
    return
  }
  await exports.settle(core.db, request.id, lease, { status: 'failed', error_message })
}
