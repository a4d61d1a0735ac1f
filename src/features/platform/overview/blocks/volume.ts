import { sql } from 'kysely'
import { percent } from '../../../../lib/percent.ts'
import { type Block, lastHours } from './block.ts'

interface Hour {
  hour: string
  sent: number
  received: number
  bounced: number
  deferred: number
}

/**
 * From a sender here is sent, to a recipient here is received, and mail between two of us is both. Only
 * the rows of these 24 hours are read.
 */
export const volume: Block<Hour[]> = async ({ db, now }, organization) => {
  const hours = lastHours(now())
  const own = organization === null ? sql`true` : sql`log.organization_id = ${organization}`
  const { rows } = await sql<Hour>`
    select date_trunc('hour', log."timestamp", 'UTC') as hour,
      count(*) filter (where went and senders.id is not null) as sent,
      count(*) filter (where went and recipients.id is not null) as received,
      count(*) filter (where status = 'bounced') as bounced,
      count(*) filter (where status = 'deferred') as deferred
    from mail_log log
    cross join lateral (select log.status in ('sent', 'delivered') as went) outcome
    left join domains senders on senders.domain = lower(split_part(log.sender, '@', -1))
    left join domains recipients on recipients.domain = lower(split_part(log.recipient, '@', -1))
    where log."timestamp" >= ${hours[0]} and ${own}
    group by 1`.execute(db)
  const found = new Map(rows.map((row) => [row.hour, row]))
  return hours.map(
    (hour) => found.get(hour) ?? { hour, sent: 0, received: 0, bounced: 0, deferred: 0 },
  )
}

/** Bounced among what was sent, over the same hours. */
export function bounceRate(hours: readonly Hour[]): number {
  const sent = hours.reduce((sum, hour) => sum + hour.sent, 0)
  const bounced = hours.reduce((sum, hour) => sum + hour.bounced, 0)
  return percent(bounced, sent + bounced)
}
