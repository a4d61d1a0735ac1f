import type { Tx } from '../../database/database.ts'
import { countEngagement, type EngagementEvent } from '../../hosting/engagement.repository.ts'
import { insertEvents, type NewTrackingEvent } from './tracking-events.repository.ts'

const COUNTED = new Set<string>(['opened', 'clicked', 'unsubscribed', 'complained'])

/** Stores events and counts those that analytics aggregates. */
export async function storeEvents(tx: Tx, rows: NewTrackingEvent[]): Promise<void> {
  await insertEvents(tx, rows)
  const counted = rows.filter(({ event_type }) => COUNTED.has(event_type))
  await countEngagement(tx, counted as (NewTrackingEvent & EngagementEvent)[])
}
