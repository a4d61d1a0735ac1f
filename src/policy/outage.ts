import type { Core } from '../core.ts'
import { onceEvery } from '../lib/once-every.ts'

const LOG_INTERVAL_MS = 30_000

export type Outage = ReturnType<typeof outage>

/** The answer while the database does not answer. Each use is counted and logged as an alert. */
export function outage({ config, log }: Pick<Core, 'config' | 'log'>) {
  const isClosed = config.POLICY_ON_FAILURE === 'closed'
  let count = 0
  const mayLog = onceEvery(LOG_INTERVAL_MS)
  return {
    get count() {
      return count
    },
    action(error: unknown): string {
      count++
      if (mayLog()) {
        log.error(
          { err: error, alert: true },
          `mail cannot be checked and ${isClosed ? 'is deferred' : 'passes unchecked'}`,
        )
      }
      return isClosed
        ? 'DEFER_IF_PERMIT 4.3.0 This cannot be checked now, try again later'
        : 'DUNNO'
    },
  }
}
