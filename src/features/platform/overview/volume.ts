import { sql } from 'kysely'
import { percent } from '../../../lib/percent.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { type Block, type BlockNeeds, lastHours } from './block.ts'

interface Hour {
  hour: string
  sent: number
  received: number
  bounced: number
  deferred: number
}

// Mail is usually logged within seconds. Older hours change only when an outage delayed the log.
const RECENT_HOURS = 2
const REFRESH_MS = 5 * MINUTE_MS

export const volume: Block<Hour[]> = ({ db, now }, organization) =>
  read(db, organization, lastHours(now()))

/** Volume of all organizations. Caches past hours, because consoles poll the overview often. */
export function cachedVolume({ db, now }: BlockNeeds) {
  let past: { begin: string; readAt: number; hours: Hour[] } | undefined
  return async (): Promise<Hour[]> => {
    const at = now()
    const hours = lastHours(at)
    const [begin = ''] = hours
    if (past?.begin !== begin || at.getTime() - past.readAt > REFRESH_MS) {
      const allHours = await read(db, null, hours)
      past = { begin, readAt: at.getTime(), hours: allHours.slice(0, -RECENT_HOURS) }
      return allHours
    }
    return [...past.hours, ...(await read(db, null, hours.slice(-RECENT_HOURS)))]
  }
}

/**
 * Mail from a hosted domain counts as sent, mail to a hosted domain as received, mail between two hosted
 * domains as both.
 */
async function read(
  db: BlockNeeds['db'],
  organization: string | null,
  hours: string[],
): Promise<Hour[]> {
  const own = organization === null ? sql`true` : sql`log.organization_id = ${organization}`
  const { rows } = await sql<Hour>`
    select date_trunc('hour', log."timestamp", 'UTC') as hour,
      count(*) filter (where went and senders.id is not null and sasl_username is not null) as sent,
      count(*) filter (where went and recipients.id is not null) as received,
      count(*) filter (where status = 'bounced') as bounced,
      count(*) filter (where status = 'deferred') as deferred
    from mail_log log
    cross join lateral (select log.status in ('sent', 'delivered') as went) outcome
    left join domains senders on senders.domain = lower(split_part(log.sender, '@', -1))
      and senders.ownership_verified_at is not null
    left join domains recipients on recipients.domain = lower(split_part(log.recipient, '@', -1))
      and recipients.ownership_verified_at is not null
    where log."timestamp" >= ${hours[0]} and not log.superseded and ${own}
    group by 1`.execute(db)
  const counts = new Map(rows.map((row) => [row.hour, row]))
  return hours.map(
    (hour) => counts.get(hour) ?? { hour, sent: 0, received: 0, bounced: 0, deferred: 0 },
  )
}

/** Percentage of outgoing mail that bounced. */
export function bounceRate(hours: readonly Hour[]): number {
  const sent = hours.reduce((sum, hour) => sum + hour.sent, 0)
  const bounced = hours.reduce((sum, hour) => sum + hour.bounced, 0)
  return percent(bounced, sent + bounced)
}
