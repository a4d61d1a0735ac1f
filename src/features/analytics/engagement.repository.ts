import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { bulkRows } from '../../database/bulk.ts'
import type { Db, Tx } from '../../database/database.ts'
import { type Owner, rolledUp } from './rolled-up.ts'
import type { Window } from './window.ts'

export interface EngagementEvent {
  organization_id: string
  /** The domain that sent the message. */
  domain: string
  recipient: string
  event_type: 'opened' | 'clicked' | 'unsubscribed' | 'complained'
  /** By a program, such as a filter that looks behind links. */
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
 * Counts what people did with mail, in the transaction that stores the events. It only adds rows, so
 * that nobody waits; call it once for each event that is new. What programs did is not counted.
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

/** 64 bits of its hash: enough to tell recipients apart, and no address is kept. */
const keyOf = (recipient: string): string =>
  hash('sha256', recipient.toLowerCase(), 'buffer').readBigInt64BE(0).toString()

export interface Engagement {
  opened: number
  clicked: number
  unsubscribed: number
  complained: number
}

export async function engagement(db: Db, owner: Owner, window: Window): Promise<Engagement> {
  const { rows } = await sql<Engagement>`
    select coalesce(sum(opened), 0)::bigint as opened, coalesce(sum(clicked), 0)::bigint as clicked,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(complained), 0)::bigint as complained
    from ${rolledUp('engagement', owner, window)}`.execute(db)
  return rows[0] as Engagement
}

export interface Uniques {
  opened: number
  clicked: number
}

/** Distinct recipients who opened, and who clicked. */
export const uniques = (db: Db, owner: Owner, window: Window): Promise<Uniques> =>
  window.isOpen ? uniquesUntilNow(db, owner, window) : uniquesOfDays(db, owner, window)

/** Whose last time is known to lie in the window, and whoever came in the last moments besides. */
async function uniquesUntilNow(db: Db, owner: Owner, window: Window): Promise<Uniques> {
  const from = window.from.toISOString()
  const fresh = (event: keyof Uniques) => sql`(
    select count(distinct recipient_key) from engagement_pending as pending
    where organization_id = ${owner.organization_id} and domain = ${owner.domain}
      and event_type = ${event} and bucket >= ${from}::timestamptz
      and not exists (
        select from engagement_recipients as known
        where known.organization_id = pending.organization_id and known.domain = pending.domain
          and known.event_type = pending.event_type and known.recipient_key = pending.recipient_key
          and known.last_quarter >= ${from}::timestamptz))`
  const { rows } = await sql<Uniques>`
    select coalesce(sum(last_opened), 0)::bigint + ${fresh('opened')} as opened,
      coalesce(sum(last_clicked), 0)::bigint + ${fresh('clicked')} as clicked
    from ${rolledUp('engagement', owner, window)}`.execute(db)
  return rows[0] as Uniques
}

/** In a window that is over, by whole days of UTC. */
async function uniquesOfDays(db: Db, owner: Owner, { from, to }: Window): Promise<Uniques> {
  const first = from.toISOString().slice(0, 10)
  const last = new Date(to.getTime() - 1).toISOString().slice(0, 10)
  const distinct = (event: keyof Uniques) => sql`(
    select count(*) from (
      select recipient_key from engagement_recipients
      where organization_id = ${owner.organization_id} and domain = ${owner.domain}
        and event_type = ${event} and day between ${first}::date and ${last}::date
      union
      select recipient_key from engagement_pending
      where organization_id = ${owner.organization_id} and domain = ${owner.domain}
        and event_type = ${event}
        and (bucket at time zone 'UTC')::date between ${first}::date and ${last}::date
    ) as recipients)`
  const { rows } = await sql<Uniques>`
    select ${distinct('opened')} as opened, ${distinct('clicked')} as clicked`.execute(db)
  return rows[0] as Uniques
}
