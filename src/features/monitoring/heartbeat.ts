import { hostname } from 'node:os'
import type { Core } from '../../core.ts'
import { periodically } from '../../lib/periodically.ts'
import { ulid } from '../../lib/ulid.ts'
import {
  type Beat,
  beat,
  forget,
  freeClaimsOfDead,
  SILENCE_SECONDS,
} from './heartbeats.repository.ts'

const EVERY_MS = 5000

interface Daemon {
  name: string
  metrics: { totals(): { requests: number; errors: number } }
}

/**
 * Stores a heartbeat of these daemons for the monitoring service, and frees the claims of processes
 * whose heartbeat has ended.
 */
export function startHeartbeat(
  { db, log }: Pick<Core, 'db' | 'log'>,
  daemons: readonly Daemon[],
  address: string,
  instance = ulid(),
) {
  const self = { instance, host: hostname(), address, startedAt: new Date() }
  let isOver = false
  let steadySince: number | undefined
  const tell = async () => {
    const beats = daemons.map(({ name, metrics }): Beat => ({ name, ...metrics.totals() }))
    if (isOver) return
    await beat(db, self, beats)
    steadySince ??= performance.now()
    // While the database was away, no process could store its heartbeat.
    if (performance.now() - steadySince < SILENCE_SECONDS * 1000) return
    const dead = await freeClaimsOfDead(db)
    if (dead.length > 0) log.warn({ processes: dead }, 'freed the claims of processes that ended')
  }
  const beating = periodically(EVERY_MS, tell, (error) => {
    steadySince = undefined
    log.warn({ err: error }, 'storing the heartbeat failed')
  })
  return {
    started: beating.now(),
    /** Removes the heartbeat: a daemon stopped on purpose is not reported as missing. */
    async stop() {
      isOver = true
      await beating.stop()
      await forget(db, self.instance)
    },
  }
}

/** The URL of a daemon; one that listens on all interfaces is reached by its host name. */
export function reachable(address: string, host: string): string {
  const url = new URL(address)
  const isEverywhere = url.hostname === '0.0.0.0' || url.hostname === '[::]'
  if (isEverywhere) url.hostname = host === hostname() ? '127.0.0.1' : host
  return url.origin
}
