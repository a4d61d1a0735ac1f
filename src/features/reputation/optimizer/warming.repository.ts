import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const columns = [
  'ip_address',
  'organization_id',
  'target_daily_volume',
  'warmup_days',
  'started_at',
  'paused_at',
  'told_day',
] as const

export interface NewSchedule {
  ip_address: string
  organization_id: string | null
  target_daily_volume: number
  warmup_days: number
}

/** Starts today and replaces an earlier schedule of the same IP address. */
export const store = (tx: Tx, schedule: NewSchedule, now: Date) => {
  const values = { ...schedule, started_at: now.toISOString(), paused_at: null, told_day: 1 }
  return tx
    .insertInto('warmup_schedules')
    .values(values)
    .onConflict((conflict) => conflict.column('ip_address').doUpdateSet(values))
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Returns undefined if the IP address has a schedule. The first step is emitted by the job. */
export const insert = (tx: Tx, schedule: NewSchedule, now: Date) =>
  tx
    .insertInto('warmup_schedules')
    .values({ ...schedule, started_at: now.toISOString(), told_day: 0 })
    .onConflict((conflict) => conflict.column('ip_address').doNothing())
    .returning(columns)
    .executeTakeFirst()

export const find = (db: Db, ip: string) =>
  db.selectFrom('warmup_schedules').select(columns).where('ip_address', '=', ip).executeTakeFirst()

/** The schedule of an organization, else that of all organizations; the newest of several. */
export const scheduleFor = (db: Db, organizationId: string) =>
  db
    .selectFrom('warmup_schedules')
    .select(columns)
    .where((eb) =>
      eb.or([eb('organization_id', '=', organizationId), eb('organization_id', 'is', null)]),
    )
    .orderBy('organization_id', (order) => order.asc().nullsLast())
    .orderBy('started_at', 'desc')
    .orderBy('ip_address')
    .limit(1)
    .executeTakeFirst()

export const lock = (tx: Tx, ip: string) =>
  tx
    .selectFrom('warmup_schedules')
    .select(columns)
    .where('ip_address', '=', ip)
    .forUpdate()
    .executeTakeFirst()

export interface ScheduleChange {
  target_daily_volume?: number
  warmup_days?: number
  started_at?: string
  paused_at?: string | null
}

export const update = (tx: Tx, ip: string, fields: ScheduleChange) =>
  tx
    .updateTable('warmup_schedules')
    .set(fields)
    .where('ip_address', '=', ip)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, ip: string) =>
  tx
    .deleteFrom('warmup_schedules')
    .where('ip_address', '=', ip)
    .returning(columns)
    .executeTakeFirst()

export const all = (db: Db) =>
  db.selectFrom('warmup_schedules').select(columns).orderBy('ip_address').execute()

/** Locks the running schedules, so that each step is emitted once. */
export const lockUntold = (tx: Tx) =>
  tx
    .selectFrom('warmup_schedules')
    .select(columns)
    .where(sql<SqlBool>`told_day <= warmup_days`)
    .orderBy('ip_address')
    .forUpdate()
    .execute()

export const setTold = (tx: Tx, ip: string, day: number) =>
  tx.updateTable('warmup_schedules').set({ told_day: day }).where('ip_address', '=', ip).execute()

const day = (now: Date) => now.toISOString().slice(0, 10)

/** Counts a message if the IP address is being warmed up. */
export const countSend = (tx: Tx, ip: string, now: Date) =>
  sql`
    insert into warmup_sends as kept (ip_address, day, sent)
    select ip_address, ${day(now)}::date, 1 from warmup_schedules where ip_address = ${ip}
    on conflict (ip_address, day) do update set sent = kept.sent + 1`.execute(tx)

export async function sentToday(db: Db, ips: string[], now: Date): Promise<Map<string, number>> {
  if (ips.length === 0) return new Map()
  const { rows } = await sql<{ ip_address: string; sent: number }>`
    select ip_address, sent from warmup_sends
    where ip_address = any(${ips}::text[]) and day = ${day(now)}::date`.execute(db)
  return new Map(rows.map(({ ip_address, sent }) => [ip_address, sent]))
}

export const deleteSendsBefore = (db: Db, time: Date) =>
  sql`delete from warmup_sends where day < ${day(time)}::date`.execute(db)
