import type { Core } from '../../../core.ts'
import { periodically } from '../../../lib/periodically.ts'
import { ulid } from '../../../lib/ulid.ts'
import * as claims from './claims.repository.ts'
import { runJob } from './run-job.ts'

const LOOK_MS = 3000
const LEASE_SECONDS = 15
// A sign of life may have been late; before another daemon believes us dead, we must.
const MARGIN_MS = 3000

// For messages that are on their way to the target when a job is to stop.
const GRACE_MS = 3000

interface Working {
  stop(): void
  cut(): void
  done: Promise<void>
  renewedAt: number
}

export type Engine = Awaited<ReturnType<typeof startEngine>>

/** Takes jobs while there is room for more, shows that it lives, and stops what was cancelled. */
export async function startEngine(core: Core) {
  const { config, db, log } = core
  const daemon = ulid()
  const working = new Map<string, Working>()
  const counts = { ended: 0 }
  let isStopping = false
  // Each job also has one connection that looks, besides those that carry.
  const perJob = config.MIGRATION_CONNECTIONS + 1
  const share = {
    daemon,
    leaseSeconds: LEASE_SECONDS,
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
    const isOurs = () => {
      const { renewedAt = 0 } = working.get(job.id) ?? {}
      return performance.now() - renewedAt < LEASE_SECONDS * 1000 - MARGIN_MS
    }
    const signals = { signal: ending.signal, cut: cutting.signal }
    const done = runJob(core, job, { daemon, ...signals, isOurs })
      .catch((error) => log.error({ err: error, job: job.id }, 'a migration job broke off'))
      // What was cut off may still arrive; nobody works on these mailboxes until the claim lapses.
      .then(() => (cutting.signal.aborted ? undefined : claims.release(db, daemon, job.id)))
      .catch((error) => log.warn({ err: error, job: job.id }, 'a migration job was not released'))
      .then(() => {
        working.delete(job.id)
        counts.ended++
        if (!isStopping) void looking.now()
      })
    working.set(job.id, { stop, cut, done, renewedAt: claimedAt })
  }

  async function renew(): Promise<void> {
    if (working.size === 0) return
    const at = performance.now()
    const rows = await claims.renew(db, daemon, [...working.keys()], LEASE_SECONDS)
    const mine = new Map(rows.map(({ id, status }) => [id, status]))
    for (const [id, one] of working) {
      const status = mine.get(id)
      if (status !== undefined) one.renewedAt = Math.max(one.renewedAt, at)
      // Those taken since are not among what was asked for.
      else if (one.renewedAt < at) one.cut()
      if (status !== undefined && status !== 'running') one.stop()
    }
  }

  async function look(): Promise<void> {
    await renew()
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

  const looking = periodically(LOOK_MS, look, (error) =>
    log.warn({ err: error }, 'migration jobs could not be looked for'),
  )
  const wake = () => void looking.now()
  const feed = await core.listen('mailplane_migration', { message: wake, subscribed: wake })

  return {
    counts,
    running: () => working.size,
    /** Lets go of its jobs, for other daemons or its next start. */
    async stop() {
      isStopping = true
      await feed.close()
      for (const { stop } of working.values()) stop()
      await Promise.all([...working.values()].map(({ done }) => done))
      await looking.stop()
    },
  }
}
