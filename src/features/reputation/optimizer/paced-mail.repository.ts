import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export type PacingReason = 'warm_up' | 'hourly' | 'daily'

export interface PacedMail {
  id: string
  organization_id: string
  recipient_domain: string
  ip_address: string | null
  reason: PacingReason | null
  queue_id: string | null
}

const columns = [
  'id',
  'organization_id',
  'recipient_domain',
  'ip_address',
  'reason',
  'queue_id',
] as const

/** Serializes the decisions about one limit, so that it cannot be exceeded. */
export const lockScope = (tx: Tx, scope: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`pacing ${scope}`}, 0))`.execute(tx)

interface NewRow extends Omit<PacedMail, 'queue_id'> {
  recipients: number
  envelope: string
  state: 'waiting' | 'sending'
}

export const insert = (tx: Tx, row: NewRow) => tx.insertInto('paced_mail').values(row).execute()

export const setQueueId = (db: Db, ids: readonly string[], queueId: string) =>
  db
    .updateTable('paced_mail')
    .set({ queue_id: queueId })
    .where('id', 'in', [...ids])
    .execute()

/** Messages of a warm-up that Postfix has and whose result is not known yet. */
export async function countUnderWay(db: Db, ip: string): Promise<number> {
  const { total } = await db
    .selectFrom('paced_mail')
    .select(sql<number>`count(*)`.as('total'))
    .where('ip_address', '=', ip)
    .where('state', 'in', ['sending', 'releasing'])
    .executeTakeFirstOrThrow()
  return total
}

/** Returns whether earlier mail waits for the same warm-up; later mail must not overtake it. */
export async function isWaitingFor(db: Db, ip: string): Promise<boolean> {
  const row = await db
    .selectFrom('paced_mail')
    .select('id')
    .where('ip_address', '=', ip)
    .where('state', '=', 'waiting')
    .where('reason', '=', 'warm_up')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The reason why earlier mail of an organization waits for a destination. */
export async function waitingTo(
  db: Db,
  organizationId: string,
  domain: string,
): Promise<PacingReason | undefined> {
  const row = await db
    .selectFrom('paced_mail')
    .select('reason')
    .where('organization_id', '=', organizationId)
    .where('recipient_domain', '=', domain)
    .where('state', '=', 'waiting')
    .where('reason', '<>', 'warm_up')
    .limit(1)
    .executeTakeFirst()
  return row?.reason ?? undefined
}

/**
 * Waiting mail with a known queue id. Organizations take turns, and so do the destinations of each: mail
 * that waits for a limit hides no mail that another limit concerns. Of a destination, oldest first.
 */
export async function waiting(db: Db, limit: number): Promise<PacedMail[]> {
  const names = sql.join(columns.map((name) => sql.ref(name)))
  const { rows } = await sql<PacedMail>`
    select ${names} from (
      select *, row_number() over (
        partition by organization_id order by nth, created_at, id) as turn
      from (
        select ${names}, created_at, row_number() over (
          partition by organization_id, recipient_domain order by created_at, id) as nth
        from paced_mail where state = 'waiting' and queue_id is not null) as of_destination
    ) as of_organization
    order by turn, created_at, id limit ${limit}`.execute(db)
  return rows
}

/** Mail that a process claimed and did not release before it ended. */
export const leftReleasing = (db: Db, limit: number): Promise<PacedMail[]> =>
  db
    .selectFrom('paced_mail')
    .select(columns)
    .where('state', '=', 'releasing')
    .where('changed_at', '<', sql<string>`now() - interval '1 minute'`)
    .orderBy('created_at')
    .limit(limit)
    .execute()

/** Returns false if another process has claimed or removed it. */
export async function claim(tx: Tx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('paced_mail')
    .set({ state: 'releasing', changed_at: sql`now()` })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export const setReason = (tx: Tx, id: string, reason: PacingReason) =>
  tx
    .updateTable('paced_mail')
    .set({ reason })
    .where('id', '=', id)
    .where('reason', '<>', reason)
    .execute()

/** Postfix delivers it now. Only a warm-up waits for the result. */
export async function released(db: Db, { id, ip_address }: PacedMail): Promise<void> {
  if (ip_address === null) {
    await db.deleteFrom('paced_mail').where('id', '=', id).execute()
    return
  }
  await db
    .updateTable('paced_mail')
    .set({ state: 'sending', changed_at: sql`now()` })
    .where('id', '=', id)
    .where('state', '=', 'releasing')
    .execute()
}

/**
 * Removes messages whose results are all in the log, and counts those that at least one recipient
 * got, for the day `now`. One statement, so that a message is counted once.
 */
export const settle = (db: Db, now: Date) =>
  sql`
    with results as (
      select p.id, bool_or(l.status = 'delivered') as is_delivered
      from paced_mail p
      join mail_log l on l.organization_id = p.organization_id
        and l."timestamp" >= p.created_at - interval '1 minute'
        and l.queue_id = p.queue_id
        and split_part(l.recipient, '@', 2) = p.recipient_domain
      where p.state = 'sending' and l.status <> 'deferred'
      group by p.id
      having count(distinct l.recipient) >= max(p.recipients)
    ), gone as (
      delete from paced_mail using results where paced_mail.id = results.id
      returning paced_mail.ip_address, results.is_delivered
    )
    insert into warmup_sends as kept (ip_address, day, sent)
    select ip_address, ${now.toISOString().slice(0, 10)}::date, count(*)
    from gone join warmup_schedules using (ip_address)
    where is_delivered group by 1
    on conflict (ip_address, day) do update set sent = kept.sent + excluded.sent`.execute(db)

interface Unclear {
  id: string
  envelope: string
  state: 'waiting' | 'releasing' | 'sending'
  queue_id: string | null
}

/** Mail whose queue id was not stored in time, or that has not changed for a while, claims aside. */
export const unclear = (db: Db, limit: number): Promise<Unclear[]> =>
  db
    .selectFrom('paced_mail')
    .select(['id', 'envelope', 'state', 'queue_id'])
    .where('state', '<>', 'releasing')
    .where(
      sql<boolean>`changed_at < now() - case when queue_id is null
        then interval '3 minutes' else interval '15 minutes' end`,
    )
    .orderBy('changed_at')
    .limit(limit)
    .execute()

/** Returns those of the queue ids that belong to paced mail. */
export async function known(db: Db, queueIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('paced_mail')
    .select('queue_id')
    .where(sql<boolean>`queue_id = any(${queueIds}::text[])`)
    .execute()
  return new Set(rows.flatMap(({ queue_id }) => queue_id ?? []))
}

/** It is still in the queue, so the next look is later. */
export const seen = (db: Db, id: string, queueId: string) =>
  db
    .updateTable('paced_mail')
    .set({ queue_id: queueId, changed_at: sql`now()` })
    .where('id', '=', id)
    .execute()

export const remove = (db: Db, id: string) =>
  db.deleteFrom('paced_mail').where('id', '=', id).execute()

export interface Waiting {
  ip_address: string | null
  recipient_domain: string
  reason: PacingReason | null
  state: string
  total: number
}

/** Counts by warm-up, destination and state. */
export const counts = (db: Db): Promise<Waiting[]> =>
  db
    .selectFrom('paced_mail')
    .select([
      'ip_address',
      'recipient_domain',
      'reason',
      'state',
      sql<number>`count(*)`.as('total'),
    ])
    .groupBy(['ip_address', 'recipient_domain', 'reason', 'state'])
    .execute()
