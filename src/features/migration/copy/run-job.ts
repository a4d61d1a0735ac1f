import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from '../../../jobs/lease.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { ConnectionFailed, ConnectionRefused, messageOf } from '../../../mail/imap/connect.ts'
import { MigrationCompleted, MigrationFailed, MigrationStarted } from '../migration.events.ts'
import { announce } from '../notices/announce.ts'
import { shownJob } from '../shown-job.ts'
import type { ClaimedJob } from './claims.repository.ts'
import { copyMailbox } from './copy-mailbox.ts'
import * as progress from './progress.repository.ts'
import { reportProgress } from './report-progress.ts'
import { type Needs, type Run, Stopped } from './run.ts'
import { serversOf } from './servers.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
// A server that never answered is probably a mistake in the request, which its sender should see soon.
const FIRST_CONTACT_MS = 30_000
const FIRST_ANSWER_MS = 25_000
const LEAST_ANSWER_MS = 5000
const MAX_SINGLED_OUT = 300

interface Claim {
  lease: Lease
  signal: AbortSignal
  cut: AbortSignal
  isOurs(): boolean
}

/** Works on a job until it has ended or the lease is lost. */
export async function runJob(core: Needs, job: ClaimedJob, claim: Claim): Promise<void> {
  const { db, now } = core
  const { source_host, target_email } = shownJob(job, core.mailServers.current())
  await db.transaction().execute(async (tx) => {
    if (!(await progress.begin(tx, claim.lease, job.id, now()))) return
    const { id, direction, is_delta } = job
    const data = { job_id: id, direction, source_host, target_email, is_delta }
    await announce(core, tx, job, MigrationStarted, data)
  })

  const end = (error: string | null) =>
    db.transaction().execute(async (tx) => {
      const at = now()
      const status = error === null ? 'completed' : 'failed'
      const hours = core.config.MIGRATION_CREDENTIALS_HOURS
      const keepUntil = hours === 0 ? null : new Date(at.getTime() + hours * HOUR_MS)
      const how = { status, error, now: at, keepUntil } as const
      const ended = await progress.end(tx, claim.lease, job.id, how)
      if (!ended) return
      if (error !== null) {
        await progress.logJobError(tx, job.id, 'job_failed', error)
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
    const reporting = reportProgress(run)
    try {
      await copyWithRetries(run)
    } finally {
      await reporting.stop()
    }
    await end(null)
  } catch (error) {
    if (error instanceof Stopped || claim.signal.aborted) return
    const isConnection = error instanceof ConnectionRefused || error instanceof ConnectionFailed
    if (!isConnection) core.log.error({ err: error, job: job.id }, 'migration job failed')
    await end(
      isConnection ? messageOf(error) : 'Internal error; see the log of the migration daemon',
    )
  }
}

/** Returns whether this run or an earlier one has listed the folders of both servers. */
const hasBeenReached = ({ job, migrated }: Run) => job.total_messages > 0 || migrated > 0

/** The time that is left for the first answers of an attempt. */
const firstAnswerMs = (beganAt: number) =>
  Math.min(FIRST_ANSWER_MS, Math.max(LEAST_ANSWER_MS, beganAt + FIRST_CONTACT_MS - Date.now()))

/** Retries after a lost connection. Progress resets the count of retries. */
async function copyWithRetries(run: Run): Promise<void> {
  const { db, config } = run.core
  const { MIGRATION_RETRIES: retries } = config
  const beganAt = Date.now()
  for (let failures = 0; ; ) {
    const before = run.migrated
    const singled = run.singledOut
    try {
      await copyMailbox(run, hasBeenReached(run) ? undefined : firstAnswerMs(beganAt))
      await progress.clearJobError(db, run.job.id)
      return
    } catch (error) {
      if (!(error instanceof ConnectionFailed)) throw error
      // Isolating the message that breaks the connection is progress too, up to a limit.
      const hasNarrowed = run.singledOut > singled && run.singledOut < MAX_SINGLED_OUT
      const hasProgress = run.migrated > before || hasNarrowed
      failures = hasProgress ? 1 : failures + 1
      const unreachable = !hasBeenReached(run) && Date.now() >= beganAt + FIRST_ANSWER_MS
      if (failures > retries || unreachable) throw error
      if (!hasProgress && run.isOurs()) {
        await progress.logJobError(db, run.job.id, 'connection_failed', error.message)
      }
      run.core.log.warn(
        { err: error, job: run.job.id },
        'connection of a migration job lost, will retry',
      )
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
      await sleep(pause, undefined, { signal: run.signal }).catch(() => {
        throw new Stopped()
      })
    }
  }
}
