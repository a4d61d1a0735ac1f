import type { Core } from '../../../core.ts'
import { type KeptLease, keepLease, newLease } from '../../../jobs/lease.ts'
import { periodically } from '../../../lib/periodically.ts'
import * as claims from './claims.repository.ts'
import { runJob } from './run-job.ts'

const LOOK_MS = 3000
const LEASE_SECONDS = 15
// Time for messages that are being sent to the target when a job stops.
const GRACE_MS = 3000

interface Working {
  stop(): void
  done: Promise<void>
  kept: KeptLease
}

/** Claims jobs while there is room for more, renews their leases, and stops cancelled ones. */
export async function startEngine(core: Core) {
  const { config, db, log } = core
  const lease = newLease(LEASE_SECONDS)
  const working = new Map<string, Working>()
  const counts = { ended: 0 }
  let isStopping = false
  // Each job has one connection that scans, besides those that copy.
  const perJob = config.MIGRATION_CONNECTIONS + 1
  const share = {
    lease,
    jobsPerHost: Math.max(1, Math.floor(config.MIGRATION_MAX_CONNECTIONS_PER_HOST / perJob)),
  }

  function begin(job: claims.ClaimedJob, claimedAt: number) {
    const ending = new AbortController()
    const cutting = new AbortController()
    const cut = () => {
      ending.abort()
      cutting.abort()
    }
    const stop = () => {
      ending.abort()
      setTimeout(cut, GRACE_MS).unref()
    }
    const renew = async () => {
      const status = await claims.renew(db, job.id, lease)
      if (status !== undefined && status !== 'running') stop()
      return status !== undefined
    }
    const kept = keepLease(lease, renew, { log, claimedAt })
    kept.signal.addEventListener('abort', cut, { once: true })
    const signals = { signal: ending.signal, cut: cutting.signal }
    const done = runJob(core, job, { lease, ...signals, isOurs: () => kept.lastsFor(0) })
      .catch((error) => log.error({ err: error, job: job.id }, 'migration job failed'))
      .then(() => kept.stop())
      // Interrupted messages may still arrive, so the mailboxes stay claimed until the lease ends.
      .then(() => (cutting.signal.aborted ? undefined : claims.release(db, job.id, lease)))
      .catch((error) => log.warn({ err: error, job: job.id }, 'releasing a migration job failed'))
      .then(() => {
        working.delete(job.id)
        counts.ended++
        if (!isStopping) void looking.now()
      })
    working.set(job.id, { stop, done, kept })
  }

  async function claimJobs(): Promise<void> {
    await Promise.all([...working.values()].map(({ kept }) => kept.renewNow()))
    while (!isStopping && working.size < config.MIGRATION_MAX_CONCURRENT_JOBS) {
      const at = performance.now()
      const job = await claims.claim(db, share)
      if (!job) break
      begin(job, at)
    }
    if (isStopping) return
    const isFull = working.size >= config.MIGRATION_MAX_CONCURRENT_JOBS
    const greedy = await claims.findGreedy(db, share, isFull)
    if (greedy !== undefined) working.get(greedy)?.stop()
  }

  const looking = periodically(LOOK_MS, claimJobs, (error) =>
    log.warn({ err: error }, 'claiming migration jobs failed'),
  )
  const wake = () => void looking.now()
  const feed = await core.listen('mailplane_migration', { message: wake, subscribed: wake })

  return {
    counts,
    running: () => working.size,
    /** Releases its jobs, for other daemons or its next start. */
    async stop() {
      isStopping = true
      await feed.close()
      for (const { stop } of working.values()) stop()
      await Promise.all([...working.values()].map(({ done }) => done))
      await looking.stop()
    },
  }
}
