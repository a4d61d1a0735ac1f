import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { ReportType } from '../analytics.schemas.ts'
import type { Interval } from './reports.schemas.ts'

const columns = [
  'schedule_id',
  'organization_id',
  'domain',
  'report_type',
  'interval',
  'recipients',
  'timezone',
  'webhook_url',
  'created_at',
  'last_run_at',
  'last_error',
] as const

export const list = (db: Db, scope: Scope) =>
  db
    .selectFrom('analytics_schedules')
    .select(columns)
    .where(inScope('analytics_schedules', scope))
    .orderBy('created_at')
    .orderBy('schedule_id')
    .execute()

export type ScheduleRow = Awaited<ReturnType<typeof list>>[number]

/** Schedules of one organization are added one after the other, so that the limit holds. */
export async function countForUpdate(tx: Tx, organizationId: string): Promise<number> {
  await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .execute()
  const { count } = await tx
    .selectFrom('analytics_schedules')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return count
}

interface NewSchedule {
  schedule_id: string
  organization_id: string
  domain: string
  report_type: ReportType
  interval: Interval
  recipients: string[]
  timezone: string
  webhook_url: string | null
  webhook_secret: Buffer | null
  created_at: string
  due_at: string
}

export const insert = (tx: Tx, schedule: NewSchedule) =>
  tx.insertInto('analytics_schedules').values(schedule).returning(columns).executeTakeFirstOrThrow()

export interface Claimed {
  schedule_id: string
  organization_id: string
  domain: string
  report_type: ReportType
  interval: Interval
  recipients: string[]
  timezone: string
  webhook_url: string | null
  webhook_secret: Buffer | null
  due_at: string
}

/** Takes one that is due and that no living process is at. */
export async function claim(
  db: Db,
  owner: string,
  now: Date,
  leaseSeconds: number,
): Promise<Claimed | undefined> {
  const { rows } = await sql<Claimed>`
    update analytics_schedules
    set claimed_by = ${owner}, claimed_until = now() + make_interval(secs => ${leaseSeconds})
    where schedule_id = (
      select schedule_id from analytics_schedules
      where due_at <= ${now.toISOString()}::timestamptz and claimed_until < now()
      order by due_at, schedule_id limit 1
      for update skip locked)
    returning schedule_id, organization_id, domain, report_type, "interval", recipients, timezone,
      webhook_url, webhook_secret, due_at`.execute(db)
  return rows[0]
}

export const renew = (db: Db, id: string, owner: string, leaseSeconds: number) =>
  sql`
    update analytics_schedules
    set claimed_until = now() + make_interval(secs => ${leaseSeconds})
    where schedule_id = ${id} and claimed_by = ${owner}`.execute(db)

/** False when another process has taken it over meanwhile. */
export async function finish(
  tx: Tx,
  { schedule_id }: Pick<Claimed, 'schedule_id'>,
  owner: string,
  outcome: { now: Date; dueAt: Date; error: string | null },
): Promise<boolean> {
  const finished = await tx
    .updateTable('analytics_schedules')
    .set({
      last_run_at: outcome.now.toISOString(),
      last_error: outcome.error,
      due_at: outcome.dueAt.toISOString(),
      claimed_by: null,
      claimed_until: '-infinity',
    })
    .where('schedule_id', '=', schedule_id)
    .where('claimed_by', '=', owner)
    .executeTakeFirst()
  return finished.numUpdatedRows > 0n
}
