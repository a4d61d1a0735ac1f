import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import { type Owner, rolledUp } from '../rolled-up.ts'
import type { Day, Window } from '../window.ts'

const DOMAINS = 100

/** All domains that a caller may see. */
export const ownerOf = (scope: Scope): Partial<Owner> =>
  scope === 'platform' ? {} : { organization_id: scope.organization }

const total = (column: string, name: string) =>
  sql`coalesce(sum(${sql.ref(column)}), 0)::bigint as ${sql.ref(name)}`

const COUNTS = sql.join([
  total('sent', 'sent_count'),
  total('delivered', 'delivered_count'),
  total('bounced', 'bounced_count'),
  total('deferred', 'deferred_count'),
  total('inbound', 'received_count'),
])

export interface MailCounts {
  sent_count: number
  delivered_count: number
  bounced_count: number
  deferred_count: number
  received_count: number
}

/** Days without mail are zero. */
export async function daily(db: Db, scope: Scope, window: Window, days: readonly Day[]) {
  const starts = days.map(({ start }) => start.toISOString())
  const { rows } = await sql<MailCounts & { nth: number }>`
    select width_bucket(bucket, ${starts}::timestamptz[]) as nth, ${COUNTS}
    from ${rolledUp('mail_traffic', ownerOf(scope), window)} group by nth`.execute(db)
  const counted = new Map(rows.map(({ nth, ...counts }) => [nth, counts]))
  return days.map(({ date }, at) => ({ date, ...(counted.get(at + 1) ?? NOTHING) }))
}

const NOTHING: MailCounts = {
  sent_count: 0,
  delivered_count: 0,
  bounced_count: 0,
  deferred_count: 0,
  received_count: 0,
}

/** The hosted domains with the most sent mail. */
export async function byDomain(db: Db, scope: Scope, window: Window) {
  const { rows } = await sql<MailCounts & { domain: string }>`
    select domain, ${COUNTS} from ${rolledUp('mail_traffic', ownerOf(scope), window)}
    group by domain having sum(sent) > 0 or sum(inbound) > 0
    order by sum(sent) desc, domain limit ${DOMAINS}`.execute(db)
  return rows
}

export async function byQuarter(db: Db, scope: Scope, window: Window) {
  const { rows } = await sql<MailCounts & { t: string }>`
    select bucket as t, ${COUNTS} from ${rolledUp('mail_traffic', ownerOf(scope), window)}
    group by bucket order by bucket`.execute(db)
  return rows
}

export async function trackedMessages(db: Db, scope: Scope, { from, to }: Window): Promise<number> {
  const { count } = await db
    .selectFrom('tracked_messages')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('created_at', '>=', from.toISOString())
    .where('created_at', '<', to.toISOString())
    .where(inScope('tracked_messages', scope))
    .executeTakeFirstOrThrow()
  return count
}
