import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { bulkRows } from '../database/bulk.ts'
import type { Tx } from '../database/database.ts'

export interface EngagementEvent {
  organization_id: string
  /** The domain that sent the message. */
  domain: string
  recipient: string
  event_type: 'opened' | 'clicked' | 'unsubscribed' | 'complained'
  /** Caused by a program, such as a filter that follows links. */
  automated: boolean
  created_at: string
}

const COLUMNS = {
  organization_id: 'text',
  domain: 'text',
  bucket: 'timestamptz',
  event_type: 'text',
  recipient_key: 'bigint',
} as const

/**
 * Counts opens, clicks, unsubscribes and complaints for analytics, in the transaction that stores the
 * events. It only inserts rows, so it waits for no lock. Automated events are not counted.
 */
export async function countEngagement(tx: Tx, events: readonly EngagementEvent[]): Promise<void> {
  const rows = events
    .filter(({ automated }) => !automated)
    .map(({ organization_id, domain, recipient, event_type, created_at }) => ({
      organization_id,
      domain: domain.toLowerCase(),
      bucket: created_at,
      event_type,
      recipient_key: keyOf(recipient),
    }))
  if (rows.length === 0) return
  await sql`
    insert into engagement_pending (organization_id, domain, bucket, event_type, recipient_key)
    select organization_id, domain, quarter_of(bucket), event_type, recipient_key
    from ${bulkRows(COLUMNS, rows)} as events`.execute(tx)
}

/** 64 bits of the hash tell recipients apart without storing the e-mail address. */
const keyOf = (recipient: string): string =>
  hash('sha256', recipient.toLowerCase(), 'buffer').readBigInt64BE(0).toString()
