import type { Core } from '../../core.ts'
import { type Occurrence, occurrence } from '../../events/events.ts'
import { periodically } from '../../lib/periodically.ts'
import { TransportRuleTriggered } from './transport-rules.events.ts'
import { addHits } from './transport-rules.repository.ts'
import type { Rule } from './vocabulary.ts'

const STORE_EVERY_MS = 1000
const MAX_PENDING_EVENTS = 50_000

/**
 * Counts the matches of rules and stores counts and events every second, so that concurrent messages do
 * not wait for the lock on the row of a rule.
 */
export function hitCounter({ db, events, log }: Pick<Core, 'db' | 'events' | 'log'>) {
  let counted = new Map<string, number>()
  let pending: Occurrence[] = []
  let dropped = 0

  async function store(): Promise<void> {
    if (counted.size === 0 && pending.length === 0) return
    const hits = counted
    const occurrences = pending
    counted = new Map()
    pending = []
    try {
      await db.transaction().execute(async (tx) => {
        await addHits(tx, hits)
        await events.emitMany(tx, occurrences)
      })
      dropped = 0
    } catch (error) {
      for (const [id, count] of hits) counted.set(id, (counted.get(id) ?? 0) + count)
      pending = [...occurrences, ...pending]
      throw error
    }
  }

  const storing = periodically(STORE_EVERY_MS, store, (error) =>
    log.warn({ err: error }, 'storing hits of transport rules failed, will retry'),
  )

  return {
    add({ id, name, organization_id }: Rule, messageId: string | null): void {
      counted.set(id, (counted.get(id) ?? 0) + 1)
      if (pending.length >= MAX_PENDING_EVENTS) {
        if (dropped++ === 0) log.error('transport rule events dropped: the database is unavailable')
        return
      }
      const data = { rule_id: id, name, organization_id, message_id: messageId ?? '' }
      pending.push(occurrence(TransportRuleTriggered, { org_id: organization_id }, data))
    },
    flush: () => storing.now(),
    stop: () => storing.stop(),
  }
}
