import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'

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

const ofMessage = (db: Db, scope: Scope, emailId: string) =>
  db
    .selectFrom('tracking_events')
    .where('email_id', '=', emailId)
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
  const row = await db
    .selectFrom('mail_log')
    .select(sql<number>`count(*)`.as('total'))
    .where('organization_id', '=', organizationId)
    .where('timestamp', '>=', from.toISOString())
    .where('status', '=', 'delivered')
    .where(sql<string>`split_part(lower(sender), '@', -1)`, '=', domain)
    .executeTakeFirstOrThrow()
  return row.total
}

/** True when the message was tracked, or when an event about it is stored. */
export async function isKnown(db: Db, scope: Scope, emailId: string): Promise<boolean> {
  const tracked = await db
    .selectFrom('tracked_messages')
    .select('id')
    .where('email_id', '=', emailId)
    .where(inScope('tracked_messages', scope))
    .executeTakeFirst()
  return (
    tracked !== undefined ||
    (await ofMessage(db, scope, emailId).select('id').executeTakeFirst()) !== undefined
  )
}

export const countsOfMessage = (db: Db, scope: Scope, emailId: string) =>
  ofMessage(db, scope, emailId)
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

export const devicesOfMessage = (db: Db, scope: Scope, emailId: string, limit: number) =>
  ofMessage(db, scope, emailId)
    .select(['device_type', 'browser', 'operating_system', sql<number>`count(*)`.as('count')])
    .where('event_type', '=', 'opened')
    .where('automated', '=', false)
    .groupBy(['device_type', 'browser', 'operating_system'])
    .orderBy('count', 'desc')
    .orderBy('browser')
    .limit(limit)
    .execute()

export const placesOfMessage = (db: Db, scope: Scope, emailId: string, limit: number) =>
  ofMessage(db, scope, emailId)
    .select(['country', 'region', 'city', sql<number>`count(*)`.as('count')])
    .where('country', 'is not', null)
    .where('automated', '=', false)
    .groupBy(['country', 'region', 'city'])
    .orderBy('count', 'desc')
    .orderBy('country')
    .limit(limit)
    .execute()

export const timelineOfMessage = (db: Db, scope: Scope, emailId: string, limit: number) =>
  ofMessage(db, scope, emailId)
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

export async function deleteOlder(db: Db, before: Date, portion: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from tracking_events where id = any(array(
      select id from tracking_events where created_at < ${before.toISOString()}
      order by created_at limit ${portion}))`.execute(db)
  return Number(numAffectedRows)
}

export async function forgetAddresses(db: Db, before: Date, portion: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update tracking_events set ip_address = null where id = any(array(
      select id from tracking_events
      where created_at < ${before.toISOString()} and ip_address is not null
      order by created_at limit ${portion}))`.execute(db)
  return Number(numAffectedRows)
}
