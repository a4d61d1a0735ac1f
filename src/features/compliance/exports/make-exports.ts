import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { ulid } from '../../../lib/ulid.ts'
import { ImapAway } from '../../../mail/imap-mailbox.ts'
import { SieveUnavailable } from '../../../mail/managesieve/errors.ts'
import { record } from '../trail/trail.repository.ts'
import { fillArchive } from './archive-of-person.ts'
import { archiveWriter } from './archive-writer.ts'
import * as exports from './exports.repository.ts'
import { removeSealed, sealFile } from './sealed-file.ts'

const DAY_MS = 24 * 3600 * 1000
const KEPT_MS = 7 * DAY_MS
const RENEW_MS = 15_000
const MOST_ATTEMPTS = 20
const MOST_PAUSE_MS = 10 * 60_000

/** Makes the archives that were asked for, one at a time in each process. */
export const makeExports: Chore = {
  name: 'data-exports',
  async round(core) {
    const token = ulid()
    const wanted = await exports.claim(core.db, token, core.now())
    if (!wanted) return false
    await make(core, wanted, token)
    return true
  },
}

async function make(core: Core, wanted: exports.ClaimedExport, token: string): Promise<void> {
  const abort = new AbortController()
  const timer = setInterval(() => {
    exports
      .renew(core.db, wanted.id, token)
      // Somebody else has taken it over, or the person was erased meanwhile.
      .then((isOurs) => isOurs || abort.abort(new Error('the export is no longer ours')))
      .catch((error) => core.log.warn({ err: error }, 'a lease could not be renewed'))
  }, RENEW_MS)
  try {
    const archive = archiveWriter()
    const filling = fillArchive(core, wanted, archive).then((contents) => {
      archive.end()
      return contents
    })
    // One that fails ends the other; which of them is told to whom does not matter then.
    filling.catch((error) => archive.output.destroy(error))
    const { DATA_DIR } = core.config
    const name = `${wanted.id}-${token}`
    const [file, contents] = await Promise.all([
      sealFile(DATA_DIR, core.vault, name, archive.output, abort.signal),
      filling,
    ])
    if (!(await complete(core, wanted, token, { ...file, contents }))) {
      removeSealed(DATA_DIR, [file.file_name])
    }
  } catch (error) {
    if (!abort.signal.aborted) await fail(core, wanted, token, error as Error)
  } finally {
    clearInterval(timer)
  }
}

type Made = Awaited<ReturnType<typeof sealFile>> & { contents: Record<string, number> }

const complete = (core: Core, wanted: exports.ClaimedExport, token: string, made: Made) =>
  core.db.transaction().execute(async (tx) => {
    const at = core.now()
    const isOurs = await exports.settle(tx, wanted.id, token, {
      ...made,
      status: 'completed',
      error_message: null,
      completed_at: at.toISOString(),
      expires_at: new Date(at.getTime() + KEPT_MS).toISOString(),
    })
    if (!isOurs) return false
    const { organization_id, user_email, id: export_id } = wanted
    const details = { export_id, file_size: made.file_size, contents: made.contents }
    const action = 'data_export.completed'
    await record(tx, undefined, { action, organization_id, user_email, details }, at)
    return true
  })

/** A mail server that is away is waited for; whatever else is wrong will not heal by itself either. */
async function fail(core: Core, wanted: exports.ClaimedExport, token: string, error: Error) {
  const isAway = error instanceof ImapAway || error instanceof SieveUnavailable
  core.log.warn({ err: error, export_id: wanted.id }, 'a data export could not be made')
  const error_message = isAway
    ? `Mail server unavailable: ${error.message}`
    : 'The archive could not be made; the log says why'
  if (wanted.attempts < MOST_ATTEMPTS) {
    const pause = Math.min(MOST_PAUSE_MS, 1000 * 2 ** wanted.attempts)
    const due_at = new Date(core.now().getTime() + pause).toISOString()
    await exports.settle(core.db, wanted.id, token, { status: 'pending', error_message, due_at })
    return
  }
  await exports.settle(core.db, wanted.id, token, { status: 'failed', error_message })
}
