import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

const MOST_OF_A_KIND = 20

export interface Counts {
  sent: number
  delivered: number
  bounced: number
  deferred: number
  rejected: number
  received: number
}

/** Hours of the organization with the counts that are not rolled up yet, in one statement. */
const hours = (organizationId: string, from: Date) => {
  const part = (table: string) => sql`
    select bucket, sent, delivered, bounced, deferred, rejected, inbound_delivered
    from ${sql.table(table)}
    where organization_id = ${organizationId} and bucket >= ${from.toISOString()}::timestamptz`
  return sql`(${part('mail_traffic_hours')} union all ${part('mail_traffic_pending')}) as counted`
}

const total = (column: string, name = column) =>
  sql`coalesce(sum(${sql.ref(column)}), 0)::bigint as ${sql.ref(name)}`

/** The counts from each start to the next; a span without mail is absent. */
export async function traffic(db: Db, organizationId: string, starts: Date[]) {
  const times = starts.map((start) => start.toISOString())
  const { rows } = await sql<Counts & { nth: number }>`
    select width_bucket(bucket, ${times}::timestamptz[]) as nth, ${total('sent')},
      ${total('delivered')}, ${total('bounced')}, ${total('deferred')}, ${total('rejected')},
      ${total('inbound_delivered', 'received')}
    from ${hours(organizationId, starts[0] as Date)}
    group by nth`.execute(db)
  return new Map(rows.map(({ nth, ...counts }) => [nth - 1, counts]))
}

export async function deferredSince(db: Db, organizationId: string, since: Date) {
  const { rows } = await sql<{ deferred: number }>`
    select ${total('deferred')} from ${hours(organizationId, since)}`.execute(db)
  return rows[0]?.deferred ?? 0
}

export const suspendedMailboxes = async (db: Db, organizationId: string) =>
  (
    await db
      .selectFrom('organizations')
      .select('suspended_email_accounts')
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow()
  ).suspended_email_accounts

export const unfinishedDomains = (db: Db, organizationId: string) =>
  db
    .selectFrom('domains')
    .select(['id', 'domain as name', sql<boolean>`ownership_verified_at is not null`.as('proven')])
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
    .where((or) => or.or([or('ownership_verified_at', 'is', null), or('verified_at', 'is', null)]))
    .orderBy('domain')
    .limit(MOST_OF_A_KIND)
    .execute()

/** Active mailboxes with less than a twentieth of their quota left; found by a partial index. */
export const fullMailboxes = (db: Db, organizationId: string) =>
  db
    .selectFrom('email_accounts')
    .select(['id', 'email as name', 'storage_used', 'storage_quota'])
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .where(sql<SqlBool>`storage_quota > 0 and storage_used >= storage_quota / 100 * 95`)
    .orderBy('email')
    .limit(MOST_OF_A_KIND)
    .execute()

/** Active endpoints whose newest attempt failed. */
export async function failingEndpoints(db: Db, organizationId: string, since: Date) {
  const { rows } = await sql<{ id: string; name: string; failures: number }>`
    select webhook_endpoints.id, name, (
      select count(*) from webhook_deliveries
      where endpoint_id = webhook_endpoints.id and created_at >= ${since.toISOString()}::timestamptz
        and delivery_status in ('failed', 'retrying', 'abandoned')
    ) as failures
    from webhook_endpoints
    cross join lateral (
      select delivery_status from webhook_deliveries
      where endpoint_id = webhook_endpoints.id and delivery_status <> 'pending'
      order by created_at desc, webhook_deliveries.id desc limit 1
    ) as newest
    where webhook_endpoints.organization_id = ${organizationId} and active
      and newest.delivery_status in ('failed', 'retrying', 'abandoned')
    order by name, webhook_endpoints.id
    limit ${MOST_OF_A_KIND}`.execute(db)
  return rows
}

/** Includes expired credentials until they are renewed or revoked. */
export const expiringCredentials = (db: Db, organizationId: string, before: Date) =>
  db
    .selectFrom('smtp_credentials')
    .select(['id', sql<string>`coalesce(nullif(name, ''), username)`.as('name'), 'expires_at'])
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
    .where('expires_at', '<', before.toISOString())
    .orderBy('expires_at')
    .orderBy('id')
    .limit(MOST_OF_A_KIND)
    .execute()

/** A platform key can name an organization, but it is no key of that tenant. */
export const expiringKeys = (db: Db, organizationId: string, between: { from: Date; to: Date }) =>
  db
    .selectFrom('api_keys')
    .select(['key_id as id', 'name', 'expires_at'])
    .where('organization_id', '=', organizationId)
    .where('scope', '=', 'organization')
    .where('active', '=', true)
    .where('expires_at', '>=', between.from.toISOString())
    .where('expires_at', '<', between.to.toISOString())
    .orderBy('expires_at')
    .orderBy('id')
    .limit(MOST_OF_A_KIND)
    .execute()
