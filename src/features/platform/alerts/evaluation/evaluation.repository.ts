import { sql } from 'kysely'
import type { Db, Tx } from '../../../../database/database.ts'
import type { Comparator, Severity } from '../alert-metrics.ts'

/** Distinct metrics of the enabled rules. */
export const metricsInUse = (db: Db) =>
  db
    .selectFrom('alert_rules')
    .select(['metric', 'organization_id'])
    .where('enabled', '=', true)
    .distinct()
    .execute()

/**
 * Locks the enabled rules until the transaction ends. Rules that another process has evaluated with newer
 * values are left out.
 */
export async function lockRules(tx: Tx, readAt: Date): Promise<LockedRule[]> {
  // Two statements: one that waits for locks would still see the events as of its start.
  const { rows: locked } = await sql<{ id: string }>`
    select id from alert_rules
    where enabled and (evaluated_at is null or evaluated_at <= ${readAt.toISOString()})
    order by id for update`.execute(tx)
  const ids = locked.map(({ id }) => id)
  const { rows } = await sql<LockedRule>`
    select rules.id, rules.name, rules.metric, rules.comparator, rules.threshold,
      rules.for_seconds, rules.severity, rules.channel_ids, rules.organization_id,
      rules.breach_began_at, rules.last_notified_at,
      open.id as open_id, open.notified_at as open_notified_at
    from alert_rules rules
    left join alert_events open on open.rule_id = rules.id and open.state = 'firing'
    where rules.id = any(${ids}::text[])
    order by rules.id`.execute(tx)
  return rows
}

export interface LockedRule {
  id: string
  name: string
  metric: string
  comparator: Comparator
  threshold: number
  for_seconds: number
  severity: Severity
  channel_ids: string[]
  organization_id: string | null
  breach_began_at: string | null
  last_notified_at: string | null
  open_id: number | null
  open_notified_at: string | null
}

export const markEvaluated = (tx: Tx, ids: string[], readAt: Date) =>
  tx
    .updateTable('alert_rules')
    .set({ evaluated_at: readAt.toISOString() })
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute()

export const setBreach = (tx: Tx, id: string, beganAt: Date | null) =>
  tx
    .updateTable('alert_rules')
    .set({ breach_began_at: beganAt?.toISOString() ?? null })
    .where('id', '=', id)
    .execute()

export async function fire(tx: Tx, rule: LockedRule, value: number, message: string, now: Date) {
  await tx
    .updateTable('alert_rules')
    .set({ last_fired_at: now.toISOString() })
    .where('id', '=', rule.id)
    .execute()
  const { id } = await tx
    .insertInto('alert_events')
    .values({
      rule_id: rule.id,
      rule_name: rule.name,
      metric: rule.metric,
      comparator: rule.comparator,
      severity: rule.severity,
      value,
      threshold: rule.threshold,
      state: 'firing',
      message,
      created_at: now.toISOString(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export const resolve = (tx: Tx, eventId: number, now: Date) =>
  tx
    .updateTable('alert_events')
    .set({ state: 'resolved', resolved_at: now.toISOString() })
    .where('id', '=', eventId)
    .execute()

export async function markNotified(tx: Tx, ruleId: string, eventId: number, now: Date) {
  await tx
    .updateTable('alert_events')
    .set({ notified_at: now.toISOString() })
    .where('id', '=', eventId)
    .execute()
  await tx
    .updateTable('alert_rules')
    .set({ last_notified_at: now.toISOString() })
    .where('id', '=', ruleId)
    .execute()
}

/** Enqueues one notification per enabled channel. Ids of deleted channels are ignored. */
export const enqueue = (
  tx: Tx,
  eventId: number,
  channelIds: string[],
  kind: 'firing' | 'resolved',
  now: Date,
) =>
  sql`
    insert into alert_notifications (event_id, channel_id, kind, due_at, created_at)
    select ${eventId}, id, ${kind}, ${now.toISOString()}, ${now.toISOString()}
    from alert_channels where enabled and id = any(${channelIds}::text[])`.execute(tx)
