import type { Core } from '../../core.ts'
import { outbox } from '../../events/outbox.ts'
import type { Senders } from '../../hosting/senders.ts'
import { onceEvery } from '../../lib/once-every.ts'
import { CountersUnavailable } from './counters/counters.ts'
import { countingOf } from './counters/counting.ts'
import { limiter } from './limiter.ts'

const LOG_INTERVAL_MS = 30_000

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'internalToken' | 'log' | 'now' | 'redis'>

/**
 * Counts recipients that Postfix did not see, such as those of aliases and of reports. Returns the
 * reason when a limit refuses them.
 */
export function recounter(core: Needs, senders: Pick<Senders, 'find'>) {
  const waiting = outbox(core)
  const { counters } = countingOf(core)
  const limits = limiter({ ...core, counters, senders, outbox: waiting })
  const mayLog = onceEvery(LOG_INTERVAL_MS)

  async function storeEvents(): Promise<void> {
    if (waiting.isEmpty) return
    const stored = await core.db.transaction().execute((tx) => waiting.store(tx))
    stored()
  }

  return async (
    account: string,
    recipientCount: number,
    { messages = 0 } = {},
  ): Promise<string | undefined> => {
    try {
      const decision = await limits.check({
        sender: account,
        direction: 'outbound',
        trusted: true,
        messages,
        recipientCount,
        record: true,
      })
      await storeEvents()
      return decision.allowed ? undefined : decision.message
    } catch (error) {
      if (!(error instanceof CountersUnavailable)) throw error
      if (mayLog()) {
        core.log.error({ err: error, alert: true }, 'recipients of aliases cannot be counted')
      }
      const isClosed = core.config.POLICY_ON_FAILURE === 'closed'
      return isClosed ? 'recipients cannot be counted now, try again later' : undefined
    }
  }
}
