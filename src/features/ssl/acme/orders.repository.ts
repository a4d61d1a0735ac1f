import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { claiming, heldBy, isFree, type Lease, released, setReleased } from '../../../jobs/lease.ts'
import { ulid } from '../../../lib/ulid.ts'

const OPEN = sql<SqlBool>`state in ('waiting', 'running')`

/** Adds an order unless the certificate has an open one; returns whether it did. */
export async function insert(tx: Tx, certificateId: string, newKey = false): Promise<boolean> {
  const { rows } = await sql`
    insert into acme_orders (id, certificate_id, new_key)
    values (${ulid()}, ${certificateId}, ${newKey})
    on conflict (certificate_id) where state in ('waiting', 'running') do nothing
    returning id`.execute(tx)
  return rows.length > 0
}

/** Makes a waiting order due now, with a new key. */
export const hurry = (tx: Tx, certificateId: string) =>
  tx
    .updateTable('acme_orders')
    .set({ next_attempt_at: sql`now()`, new_key: true })
    .where('certificate_id', '=', certificateId)
    .where('state', '=', 'waiting')
    .execute()

export interface ClaimedOrder {
  id: string
  certificate_id: string
  domain: string
  attempts: number
  new_key: boolean
  sealed_content: Uint8Array | null
  sealed_next_key: Uint8Array | null
}

// A waiting order whose time has come, or a running one whose lease has ended.
const DUE = sql<SqlBool>`(state = 'running' or state = 'waiting' and next_attempt_at <= now())`

/** Claims orders that are due. */
export async function claim(db: Db, lease: Lease, count: number): Promise<ClaimedOrder[]> {
  const { rows } = await sql<ClaimedOrder>`
    with claimed as (${claiming('acme_orders', lease, {
      key: ['id'],
      where: DUE,
      orderBy: sql`next_attempt_at`,
      limit: count,
      set: sql`state = 'running', attempts = attempts + 1, begun_at = now()`,
      returning: sql`id, certificate_id, attempts, new_key`,
    })})
    select claimed.*, certificates.domain, sealed_content, sealed_next_key
    from claimed join certificates on certificates.id = claimed.certificate_id`.execute(db)
  return rows
}

/** Locks the order until the transaction ends; false when the lease was lost. */
export async function hold(tx: Tx, { id }: ClaimedOrder, lease: Lease): Promise<boolean> {
  const row = await tx
    .selectFrom('acme_orders')
    .select('id')
    .where('id', '=', id)
    .where(heldBy(lease))
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

export const close = (tx: Tx, id: string, state: 'done' | 'failed') =>
  tx
    .updateTable('acme_orders')
    .set({ state, finished_at: sql`now()`, ...released })
    .where('id', '=', id)
    .execute()

export const retry = (tx: Tx, id: string, seconds: number) =>
  tx
    .updateTable('acme_orders')
    .set({
      state: 'waiting',
      next_attempt_at: sql`now() + make_interval(secs => ${seconds})`,
      ...released,
    })
    .where('id', '=', id)
    .execute()

/** Releases an order when the process stops; the attempt does not count. */
export const release = (tx: Tx, { id, attempts }: ClaimedOrder, lease: Lease) =>
  tx
    .updateTable('acme_orders')
    .set({
      state: 'waiting',
      attempts: attempts - 1,
      next_attempt_at: sql`now()`,
      ...released,
    })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()

/** Counts the orders started in the last seven days, with any result. */
export async function countOfWeek(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('acme_orders')
    .select(sql<number>`count(*)`.as('total'))
    .where(sql<SqlBool>`begun_at > now() - interval '7 days'`)
    .executeTakeFirstOrThrow()
  return total
}

/** Postpones all due orders and stores the reason with their certificates. */
export async function postpone(db: Db, seconds: number, why: string): Promise<void> {
  await sql`
    with postponed as (
      update acme_orders set state = 'waiting', ${setReleased},
        next_attempt_at = now() + make_interval(secs => ${seconds})
      where ${isFree} and ${DUE} returning certificate_id
    )
    update certificates set error_message = ${why}, updated_at = now()
    where id in (select certificate_id from postponed)`.execute(db)
}

/** Our certificates that expire before the given time or are missing, without an open or recent order. */
export const dueForRenewal = (db: Db, before: Date, mailHost: string) =>
  db
    .selectFrom('certificates')
    .select('certificates.id')
    .where('auto_renew', '=', true)
    .where(
      sql<SqlBool>`(valid_until is null or valid_until <= ${before.toISOString()}::timestamptz)`,
    )
    .where(
      sql<SqlBool>`(certificates.domain = ${mailHost} or exists (
        select from domains where domains.domain = certificates.domain and domains.hosted))`,
    )
    .where(
      sql<SqlBool>`not exists (
        select from acme_orders where certificate_id = certificates.id
          and (${OPEN} or state = 'failed' and finished_at > now() - interval '1 day'))`,
    )
    .orderBy(sql`valid_until nulls first`)
    .orderBy('certificates.id')
    .execute()

/** Organizations take turns; in random order, as many names may point elsewhere. */
const inTurns = sql`row_number() over (partition by organization_id order by random()), random()`

/** Verified domains without a certificate of ours. */
export const withoutCertificate = (db: Db, limit: number) =>
  db
    .selectFrom('domains')
    .select(['domain', 'organization_id'])
    .where('hosted', '=', true)
    .where('verified_at', 'is not', null)
    .where(
      sql<SqlBool>`not exists (
        select from certificates where certificates.domain = domains.domain and auto_renew)`,
    )
    .orderBy(inTurns)
    .limit(limit)
    .execute()

/** Certificates of hosted domains that were not ordered for a week, which limits futile orders. */
export const orderedLongAgo = (db: Db, limit: number) =>
  db
    .selectFrom('certificates')
    .select(['certificates.id', 'certificates.domain', 'certificates.names'])
    .where('auto_renew', '=', true)
    .where('status', '=', 'active')
    .where(
      sql<SqlBool>`exists (
        select from domains where domains.domain = certificates.domain and domains.hosted)`,
    )
    .where(
      sql<SqlBool>`not exists (select from acme_orders where certificate_id = certificates.id
        and (${OPEN} or acme_orders.created_at > now() - interval '7 days'))`,
    )
    .orderBy(inTurns)
    .limit(limit)
    .execute()

export const deleteBefore = (db: Db, days: number) =>
  db
    .deleteFrom('acme_orders')
    .where(sql<SqlBool>`finished_at < now() - make_interval(days => ${days})`)
    .execute()
