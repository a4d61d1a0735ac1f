import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { type Owner, ownedBy, rolledUp } from './rolled-up.ts'
import type { Window } from './window.ts'

export interface Engagement {
  opened: number
  clicked: number
  unsubscribed: number
  complained: number
}

export async function engagement(
  db: Db,
  owner: Partial<Owner>,
  window: Window,
): Promise<Engagement> {
  const { rows } = await sql<Engagement>`
    select coalesce(sum(opened), 0)::bigint as opened, coalesce(sum(clicked), 0)::bigint as clicked,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(complained), 0)::bigint as complained
    from ${rolledUp('engagement', owner, window)}`.execute(db)
  return rows[0] as Engagement
}

interface Uniques {
  opened: number
  clicked: number
}

/** Distinct recipients with an open, and with a click. */
export const uniques = (db: Db, owner: Owner, window: Window): Promise<Uniques> =>
  window.isOpen ? uniquesUntilNow(db, owner, window) : uniquesOfDays(db, owner, window)

/**
 * Recipients whose last event is in the window, plus those not rolled up yet. A recipient of several
 * domains counts once for each of them.
 */
export async function uniquesUntilNow(
  db: Db,
  owner: Partial<Owner>,
  window: Window,
): Promise<Uniques> {
  const from = window.from.toISOString()
  const fresh = (event: keyof Uniques) => sql`(
    select count(distinct (organization_id, domain, recipient_key)) from engagement_pending as pending
    where ${ownedBy(owner, 'pending')}
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

/** For a window in the past, in whole UTC days. */
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
