import { hostname } from 'node:os'
import type { Core } from '../../core.ts'
import { periodically } from '../../lib/periodically.ts'
import { ulid } from '../../lib/ulid.ts'
import { type Beat, beat, forget } from './heartbeats.repository.ts'

const EVERY_MS = 5000

interface Daemon {
  name: string
  metrics: { totals(): { requests: number; errors: number } }
}

/** Stores a heartbeat of these daemons for the monitoring service. */
export function startHeartbeat(
  { db, log }: Pick<Core, 'db' | 'log'>,
  daemons: readonly Daemon[],
  address: string,
) {
  const self = { instance: ulid(), host: hostname(), address, startedAt: new Date() }
  let isOver = false
  const tell = async () => {
    const beats = daemons.map(({ name, metrics }): Beat => ({ name, ...metrics.totals() }))
    if (!isOver) await beat(db, self, beats)
  }
  const beating = periodically(EVERY_MS, tell, (error) =>
    log.warn({ err: error }, 'storing the heartbeat failed'),
  )
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
