import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'

const OPEN = sql<SqlBool>`state in ('waiting', 'running')`

/** One at a time for each certificate; true when this made it. */
export async function insert(tx: Tx, certificateId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into acme_orders (id, certificate_id) values (${ulid()}, ${certificateId})
    on conflict (certificate_id) where state in ('waiting', 'running') do nothing
    returning id`.execute(tx)
  return rows.length > 0
}

/** An operator who asks again does not want to wait for the next retry. */
export const hurry = (tx: Tx, certificateId: string) =>
  tx
    .updateTable('acme_orders')
    .set({ next_attempt_at: sql`now()` })
    .where('certificate_id', '=', certificateId)
    .where('state', '=', 'waiting')
    .execute()

export interface ClaimedOrder {
  id: string
  certificate_id: string
  domain: string
  path: string
  attempts: number
}

const DUE = sql<SqlBool>`
  (state = 'waiting' and next_attempt_at <= now() or state = 'running' and claimed_until <= now())`

/** Takes orders that are due, or that somebody took and never came back from. */
export async function claim(db: Db, count: number, seconds: number): Promise<ClaimedOrder[]> {
  const { rows } = await sql<ClaimedOrder>`
    update acme_orders set state = 'running', attempts = attempts + 1, begun_at = now(),
      claimed_until = now() + make_interval(secs => ${seconds})
    from certificates
    where certificates.id = acme_orders.certificate_id and acme_orders.id in (
      select id from acme_orders where ${DUE}
      order by next_attempt_at limit ${count} for update skip locked)
    returning acme_orders.id, certificate_id, certificates.domain, certificates.path, attempts`.execute(
    db,
  )
  return rows
}

/** Still this attempt's, and nobody else's until the transaction is over. */
export async function hold(tx: Tx, { id, attempts }: ClaimedOrder): Promise<boolean> {
  const row = await tx
    .selectFrom('acme_orders')
    .select('id')
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('attempts', '=', attempts)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

export const close = (tx: Tx, id: string, state: 'done' | 'failed') =>
  tx
    .updateTable('acme_orders')
    .set({ state, finished_at: sql`now()`, claimed_until: null })
    .where('id', '=', id)
    .execute()

export const retry = (tx: Tx, id: string, seconds: number) =>
  tx
    .updateTable('acme_orders')
    .set({
      state: 'waiting',
      claimed_until: null,
      next_attempt_at: sql`now() + make_interval(secs => ${seconds})`,
    })
    .where('id', '=', id)
    .execute()

/** Given back by a process that stops: this attempt does not count. */
export const release = (tx: Tx, { id, attempts }: ClaimedOrder) =>
  tx
    .updateTable('acme_orders')
    .set({
      state: 'waiting',
      claimed_until: null,
      attempts: attempts - 1,
      next_attempt_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('attempts', '=', attempts)
    .execute()

/** Orders that were begun in the last seven days, whatever became of them. */
export async function countOfWeek(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('acme_orders')
    .select(sql<number>`count(*)`.as('total'))
    .where(sql<SqlBool>`begun_at > now() - interval '7 days'`)
    .executeTakeFirstOrThrow()
  return total
}

/** All that are due wait, and their certificates say why. */
export async function postpone(db: Db, seconds: number, why: string): Promise<void> {
  await sql`
    with postponed as (
      update acme_orders set state = 'waiting', claimed_until = null,
        next_attempt_at = now() + make_interval(secs => ${seconds})
      where ${DUE} returning certificate_id
    )
    update certificates set error_message = ${why}, updated_at = now()
    where id in (select certificate_id from postponed)`.execute(db)
}

/** Ours, ending before the given time or gone, and neither under way nor just tried. */
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
        select from domains where domains.domain = certificates.domain and domains.active))`,
    )
    .where(
      sql<SqlBool>`not exists (
        select from acme_orders where certificate_id = certificates.id
          and (${OPEN} or state = 'failed' and finished_at > now() - interval '1 day'))`,
    )
    .orderBy(sql`valid_until nulls first`)
    .orderBy('certificates.id')
    .execute()

/** Verified domains that have no certificate of ours; in no order, as most may not lead here. */
export const withoutCertificate = (db: Db, limit: number) =>
  db
    .selectFrom('domains')
    .select(['domain', 'organization_id'])
    .where('active', '=', true)
    .where('verified_at', 'is not', null)
    .where(
      sql<SqlBool>`not exists (
        select from certificates where certificates.domain = domains.domain and auto_renew)`,
    )
    .orderBy(sql`random()`)
    .limit(limit)
    .execute()

export const deleteBefore = (db: Db, days: number) =>
  db
    .deleteFrom('acme_orders')
    .where(sql<SqlBool>`finished_at < now() - make_interval(days => ${days})`)
    .execute()
