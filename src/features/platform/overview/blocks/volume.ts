import { sql } from 'kysely'
import { percent } from '../../../../lib/percent.ts'
import { type Block, type BlockNeeds, lastHours } from './block.ts'

interface Hour {
  hour: string
  sent: number
  received: number
  bounced: number
  deferred: number
}

// Mail is logged within seconds; what comes later than this, after an outage, shows a little later still.
const RECENT_HOURS = 2
const READ_AGAIN_MS = 5 * 60_000

export const volume: Block<Hour[]> = ({ db, now }, organization) =>
  read(db, organization, lastHours(now()))

/**
 * The same over all organizations, for a page that is looked at all the time: hours that are over are
 * read again every few minutes only.
 */
export function rememberedVolume({ db, now }: BlockNeeds) {
  let over: { begin: string; readAt: number; hours: Hour[] } | undefined
  return async (): Promise<Hour[]> => {
    const at = now()
    const hours = lastHours(at)
    const [begin = ''] = hours
    if (over?.begin !== begin || at.getTime() - over.readAt > READ_AGAIN_MS) {
      const read24 = await read(db, null, hours)
      over = { begin, readAt: at.getTime(), hours: read24.slice(0, -RECENT_HOURS) }
      return read24
    }
    return [...over.hours, ...(await read(db, null, hours.slice(-RECENT_HOURS)))]
  }
}

/**
 * From a sender here is sent, to a recipient here is received, and mail between two of us is both. Only
 * the rows since the first of these hours are read.
 */
async function read(
  db: BlockNeeds['db'],
  organization: string | null,
  hours: string[],
): Promise<Hour[]> {
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
