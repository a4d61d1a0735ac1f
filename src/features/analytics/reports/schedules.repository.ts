import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import { claimForIdle, heldBy, type Lease, released } from '../../../jobs/lease.ts'
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

/** Serializes inserts of one organization, so that the limit holds. */
export async function countForUpdate(tx: Tx, organizationId: string) {
  await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .execute()
  return tx
    .selectFrom('analytics_schedules')
    .select([
      sql<number>`count(*)`.as('schedules'),
      sql<number>`coalesce(sum(cardinality(recipients)), 0)::int`.as('recipients'),
    ])
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
}

export const find = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('analytics_schedules')
    .select(columns)
    .where('schedule_id', '=', id)
    .where(inScope('analytics_schedules', scope))
    .executeTakeFirst()

export const update = (
  tx: Tx,
  id: string,
  fields: Partial<
    Pick<
      NewSchedule,
      'report_type' | 'interval' | 'recipients' | 'timezone' | 'webhook_url' | 'webhook_secret'
    >
  >,
  latestDue: Date,
) =>
  tx
    .updateTable('analytics_schedules')
    .set({ ...fields, due_at: sql`least(due_at, ${latestDue.toISOString()}::timestamptz)` })
    .where('schedule_id', '=', id)
    .returning(columns)
    .executeTakeFirst()

export const remove = (tx: Tx, scope: Scope, id: string) =>
  tx
    .deleteFrom('analytics_schedules')
    .where('schedule_id', '=', id)
    .where(inScope('analytics_schedules', scope))
    .returning('schedule_id')
    .executeTakeFirst()

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

/** Claims a schedule that is due, of an organization for which this process runs none. */
export const claim = (db: Db, lease: Lease, now: Date): Promise<Claimed | undefined> =>
  claimForIdle<Claimed>(db, 'analytics_schedules', lease, {
    key: ['schedule_id'],
    where: sql`due_at <= ${now.toISOString()}::timestamptz`,
    orderBy: sql`due_at, schedule_id`,
    returning: sql`schedule_id, organization_id, domain, report_type, "interval", recipients, timezone,
      webhook_url, webhook_secret, due_at`,
  })

/** Stores the outcome and releases the lease; false when the lease was lost. */
export async function finish(
  tx: Tx,
  { schedule_id }: Pick<Claimed, 'schedule_id'>,
  lease: Lease,
  outcome: { now: Date; dueAt: Date; error: string | null },
): Promise<boolean> {
  const finished = await tx
    .updateTable('analytics_schedules')
    .set({
      last_run_at: outcome.now.toISOString(),
      last_error: outcome.error,
      due_at: outcome.dueAt.toISOString(),
      ...released,
    })
    .where('schedule_id', '=', schedule_id)
    .where(heldBy(lease))
    .executeTakeFirst()
  return finished.numUpdatedRows > 0n
}
