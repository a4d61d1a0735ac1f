import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionFailed, ConnectionRefused, messageOf } from '../../../mail/imap/connect.ts'
import { MigrationCompleted, MigrationFailed, MigrationStarted } from '../migration.events.ts'
import { announce } from '../notices/announce.ts'
import { shownJob } from '../shown-job.ts'
import type { ClaimedJob } from './claims.repository.ts'
import { copyMailbox } from './copy-mailbox.ts'
import * as progress from './progress.repository.ts'
import { type Needs, type Run, Stopped } from './run.ts'
import { serversOf } from './servers.ts'
import { tellProgress } from './tell-progress.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
const MAX_SINGLED_OUT = 300

interface Claim {
  daemon: string
  signal: AbortSignal
  cut: AbortSignal
  isOurs(): boolean
}

/** Works on a job until it has ended, or is not ours any more. */
export async function runJob(core: Needs, job: ClaimedJob, claim: Claim): Promise<void> {
  const { db, now } = core
  const { source_host, target_email } = shownJob(job, core.config)
  await db.transaction().execute(async (tx) => {
    if (!(await progress.begin(tx, claim.daemon, job.id, now()))) return
    const { id, direction, is_delta } = job
    const data = { job_id: id, direction, source_host, target_email, is_delta }
    await announce(core, tx, job, MigrationStarted, data)
  })

  const end = (error: string | null) =>
    db.transaction().execute(async (tx) => {
      const at = now()
      const status = error === null ? 'completed' : 'failed'
      const ended = await progress.end(tx, claim.daemon, job.id, { status, error, now: at })
      if (!ended) return
      if (error !== null) {
        const data = { job_id: job.id, direction: job.direction, error }
        return announce(core, tx, job, MigrationFailed, data)
      }
      const began = new Date(ended.started_at ?? at).getTime()
      await announce(core, tx, job, MigrationCompleted, {
        job_id: job.id,
        final_status: ended.failed_messages > 0 ? 'completed_with_errors' : 'completed',
        total_migrated: ended.migrated_messages,
        total_failed: ended.failed_messages,
        duration_seconds: Math.max(0, at.getTime() - began) / 1000,
      })
    })

  try {
    const { pair_id } = job
    if (pair_id === null) throw new ConnectionRefused('The mailbox is no longer there')
    const run: Run = {
      core,
      job: { ...job, pair_id },
      ...claim,
      ...serversOf(core, job),
      suspects: new Map(),
      singledOut: 0,
      migrated: 0,
      currentFolder: undefined,
    }
    const telling = tellProgress(run)
    try {
      await persistently(run)
    } finally {
      await telling.stop()
    }
    await end(null)
  } catch (error) {
    if (error instanceof Stopped || claim.signal.aborted) return
    const isTold = error instanceof ConnectionRefused || error instanceof ConnectionFailed
    if (!isTold) core.log.error({ err: error, job: job.id }, 'a migration job failed')
    await end(
      isTold ? messageOf(error) : 'Internal error; the log of the migration daemon has more',
    )
  }
}

/** Goes on after a lost connection, for as long as it gets anywhere. */
async function persistently(run: Run): Promise<void> {
  const { MIGRATION_RETRIES: retries } = run.core.config
  for (let failures = 0; ; ) {
    const before = run.migrated
    const singled = run.singledOut
    try {
      return await copyMailbox(run)
    } catch (error) {
      if (!(error instanceof ConnectionFailed)) throw error
      // Finding out which message it is, is progress too; not for ever.
      const narrowed = run.singledOut > singled && run.singledOut < MAX_SINGLED_OUT
      const moved = run.migrated > before || narrowed
      failures = moved ? 1 : failures + 1
      if (failures > retries) throw error
      run.core.log.warn({ err: error, job: run.job.id }, 'a migration job lost its connection')
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
      await sleep(pause, undefined, { signal: run.signal }).catch(() => {
        throw new Stopped()
      })
    }
  }
}
