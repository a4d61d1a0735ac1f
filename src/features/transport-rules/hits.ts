import type { Core } from '../../core.ts'
import { type Occurrence, occurrence } from '../../events/events.ts'
import { periodically } from '../../lib/periodically.ts'
import { TransportRuleTriggered } from './transport-rules.events.ts'
import { addHits } from './transport-rules.repository.ts'
import type { Rule } from './vocabulary.ts'

const EVERY_MS = 1000
const MAX_WAITING = 50_000

/**
 * Counts what rules matched, and stores it together with the events every second: messages that come
 * at once do not wait for each other at the row of a rule.
 */
export function hitCounter({ db, events, log }: Pick<Core, 'db' | 'events' | 'log'>) {
  let counted = new Map<string, number>()
  let told: Occurrence[] = []
  let lost = 0

  async function store(): Promise<void> {
    if (counted.size === 0 && told.length === 0) return
    const hits = counted
    const occurrences = told
    counted = new Map()
    told = []
    try {
      await db.transaction().execute(async (tx) => {
        await addHits(tx, hits)
        await events.emitMany(tx, occurrences)
      })
      lost = 0
    } catch (error) {
      for (const [id, count] of hits) counted.set(id, (counted.get(id) ?? 0) + count)
      told = [...occurrences, ...told]
      throw error
    }
  }

  const storing = periodically(EVERY_MS, store, (error) =>
    log.warn({ err: error }, 'hits of transport rules could not be stored; tried again'),
  )

  return {
    add({ id, name, organization_id }: Rule, messageId: string | null): void {
      counted.set(id, (counted.get(id) ?? 0) + 1)
      if (told.length >= MAX_WAITING) {
        if (lost++ === 0) log.error('the database is away for too long: events are being lost')
        return
      }
      const data = { rule_id: id, name, organization_id, message_id: messageId ?? '' }
      told.push(occurrence(TransportRuleTriggered, { org_id: organization_id }, data))
    },
    flush: () => storing.now(),
    stop: () => storing.stop(),
  }
}
