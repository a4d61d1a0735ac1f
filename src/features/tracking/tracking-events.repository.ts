import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import { pastMessages } from '../../hosting/past-days.ts'
import { HOUR_MS } from '../../lib/time.ts'

export const EVENT_TYPES = [
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const
export type TrackingEventType = (typeof EVENT_TYPES)[number]

export interface NewTrackingEvent {
  id: string
  organization_id: string
  domain_id: string | null
  domain: string
  tracking_id: string | null
  email_id: string | null
  recipient: string
  event_type: TrackingEventType
  automated: boolean
  automated_reason: string | null
  url: string | null
  user_agent: string | null
  ip_address: string | null
  referer: string | null
  accept_language: string | null
  device_type: string | null
  browser: string | null
  operating_system: string | null
  country: string | null
  region: string | null
  city: string | null
  additional_data: object | null
  created_at: string
}

/** One statement for all rows. Rows of deleted organizations are skipped. */
export async function insertEvents(tx: Tx, rows: NewTrackingEvent[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into tracking_events
    select new.* from json_populate_recordset(null::tracking_events, ${rows}::json) as new
    where exists (select from organizations where organizations.id = new.organization_id)
  `.execute(tx)
}

const columns = [
  'id',
  'email_id',
  'recipient',
  'organization_id',
  'domain_id',
  'event_type',
  'created_at as timestamp',
  'automated',
  'automated_reason',
  'url',
  'user_agent',
  'ip_address',
  'referer',
  'accept_language',
  'device_type',
  'browser',
  'operating_system',
  'country',
  'region',
  'city',
  sql<Record<string, unknown> | null>`additional_data`.as('additional_data'),
] as const

/** A message, and the time from which on there may be events about it. */
export interface MessageSince {
  emailId: string
  since: Date
}

const ofMessage = (db: Db, scope: Scope, { emailId, since }: MessageSince) =>
  db
    .selectFrom('tracking_events')
    .where('email_id', '=', emailId)
    .where('created_at', '>=', since.toISOString())
    .where(inScope('tracking_events', scope))

const byPeople = sql.raw('count(*) filter (where not automated)')

/** Counts by type of event, people and programs separately. */
export const countsOfDomain = (db: Db, domain: string, organizationId: string, from: Date) =>
  db
    .selectFrom('tracking_events')
    .select([
      'event_type',
      sql<number>`${byPeople}`.as('total'),
      sql<number>`count(distinct email_id) filter (where not automated)`.as('unique_emails'),
      sql<number>`count(distinct recipient) filter (where not automated)`.as('unique_recipients'),
      sql<number>`count(*) filter (where automated)`.as('automated'),
    ])
    .where('organization_id', '=', organizationId)
    .where('domain', '=', domain)
    .where('created_at', '>=', from.toISOString())
    .groupBy('event_type')
    .orderBy('event_type')
    .execute()

/** Deliveries of mail that a domain sent. */
export async function deliveredOf(db: Db, domain: string, organizationId: string, from: Date) {
  const { rows } = await sql<{ total: number }>`
    select sum(messages)::bigint as total from (
      select count(*) as messages from mail_log
      where organization_id = ${organizationId} and status = 'delivered'
        and "timestamp" >= ${from.toISOString()}::timestamptz
        and split_part(lower(sender), '@', -1) = ${domain}
      union all
      select messages from (${pastMessages('domain', domain, from)}) as past
      where organization_id = ${organizationId}
    ) as counted`.execute(db)
  return rows[0]?.total ?? 0
}

/** Finds a message that was tracked, or that a stored event is about. */
export async function findMessage(
  db: Db,
  scope: Scope,
  emailId: string,
): Promise<MessageSince | undefined> {
  for (const table of ['tracked_messages', 'tracking_events'] as const) {
    const { first } = await db
      .selectFrom(table)
      .select(sql<string | null>`min(created_at)`.as('first'))
      .where('email_id', '=', emailId)
      .where(inScope(table, scope))
      .executeTakeFirstOrThrow()
    if (first !== null) return { emailId, since: new Date(Date.parse(first) - CLOCKS_DIFFER_MS) }
  }
  return undefined
}

/** The host that tracks a message and the one that stores its first event have their own clocks. */
const CLOCKS_DIFFER_MS = HOUR_MS

export const countsOfMessage = (db: Db, scope: Scope, message: MessageSince) =>
  ofMessage(db, scope, message)
    .select([
      'event_type',
      sql<number>`${byPeople}`.as('total'),
      sql<number>`count(distinct recipient) filter (where not automated)`.as('unique'),
      sql<number>`count(distinct ip_address) filter (where not automated)`.as('unique_ips'),
      sql<number>`count(*) filter (where automated)`.as('automated'),
      sql<string>`min(created_at)`.as('first_event'),
      sql<string>`max(created_at)`.as('last_event'),
    ])
    .groupBy('event_type')
    .orderBy('event_type')
    .execute()

export const devicesOfMessage = (db: Db, scope: Scope, message: MessageSince, limit: number) =>
  ofMessage(db, scope, message)
    .select(['device_type', 'browser', 'operating_system', sql<number>`count(*)`.as('count')])
    .where('event_type', '=', 'opened')
    .where('automated', '=', false)
    .groupBy(['device_type', 'browser', 'operating_system'])
    .orderBy('count', 'desc')
    .orderBy('browser')
    .limit(limit)
    .execute()

export const placesOfMessage = (db: Db, scope: Scope, message: MessageSince, limit: number) =>
  ofMessage(db, scope, message)
    .select(['country', 'region', 'city', sql<number>`count(*)`.as('count')])
    .where('country', 'is not', null)
    .where('automated', '=', false)
    .groupBy(['country', 'region', 'city'])
    .orderBy('count', 'desc')
    .orderBy('country')
    .limit(limit)
    .execute()

export const timelineOfMessage = (db: Db, scope: Scope, message: MessageSince, limit: number) =>
  ofMessage(db, scope, message)
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Reported soft bounces; the log ingestor counts those in the mail log. */
export async function softBounces(tx: Tx, organizationId: string, recipient: string, from: Date) {
  const row = await tx
    .selectFrom('tracking_events')
    .select(sql<number>`count(*)`.as('total'))
    .where('event_type', '=', 'bounced')
    .where('organization_id', '=', organizationId)
    .where('recipient', '=', recipient)
    .where('created_at', '>=', from.toISOString())
    .where(sql<string>`additional_data ->> 'bounce_type'`, '=', 'SOFT')
    .executeTakeFirstOrThrow()
  return row.total
}

export async function forgetAddresses(db: Db, before: Date, portion: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update tracking_events set ip_address = null where (created_at, id) in (
      select created_at, id from tracking_events
      where created_at < ${before.toISOString()} and ip_address is not null
      order by created_at limit ${portion})`.execute(db)
  return Number(numAffectedRows)
}
