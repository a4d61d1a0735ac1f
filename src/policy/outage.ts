import type { Core } from '../core.ts'

const COMPLAIN_MS = 30_000

export type Outage = ReturnType<typeof outage>

/** What is answered while nothing can be decided, told as an alert and counted. */
export function outage({ config, log }: Pick<Core, 'config' | 'log'>) {
  const isClosed = config.POLICY_ON_FAILURE === 'closed'
  let count = 0
  let complainedAt = 0
  return {
    get count() {
      return count
    },
    action(error: unknown): string {
      count++
      if (Date.now() - complainedAt >= COMPLAIN_MS) {
        complainedAt = Date.now()
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
