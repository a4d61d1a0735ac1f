import { type SqlBool, sql } from 'kysely'
import { type Window, wholeDays } from './window.ts'

/** The organization and domain of the figures. */
export interface Owner {
  organization_id: string
  domain: string
}

/** Rows of a domain, of all domains of an organization, or of all organizations. */
export const ownedBy = (owner: Partial<Owner>, table?: string) => {
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`)
  const { organization_id, domain } = owner
  return sql<SqlBool>`${organization_id === undefined ? sql`true` : sql`${column('organization_id')} = ${organization_id}`}
    and ${domain === undefined ? sql`true` : sql`${column('domain')} = ${domain}`}`
}

const TRAFFIC = `sent, delivered, bounced, deferred, rejected, inbound, spam_scores, spam_score_sum,
  attempts`

/** Summed columns, and their expressions for rows that are not rolled up yet. */
const FAMILIES = {
  mail_traffic: {
    columns: TRAFFIC,
    pending: TRAFFIC,
  },
  engagement: {
    columns: `opened, clicked, unsubscribed, complained, last_opened, last_clicked`,
    // The last event of a recipient is known only after the roll-up.
    pending: `(event_type = 'opened')::int, (event_type = 'clicked')::int,
      (event_type = 'unsubscribed')::int, (event_type = 'complained')::int, 0, 0`,
  },
} as const

/**
 * The rows of a window, to select from: whole days, quarters of an hour at both ends, and rows that are
 * not rolled up yet. One statement, so that a concurrent roll-up neither hides nor doubles rows.
 */
export function rolledUp(family: keyof typeof FAMILIES, owner: Partial<Owner>, window: Window) {
  const { columns, pending } = FAMILIES[family]
  const whole = wholeDays(window)
  const part = (suffix: string, selected: string, from: Date, to: Date) => sql`
    select domain, bucket, ${sql.raw(selected)} from ${sql.table(`${family}_${suffix}`)}
    where ${ownedBy(owner)}
      and bucket >= ${from.toISOString()}::timestamptz
      and bucket < ${to.toISOString()}::timestamptz`
  return sql`(
    ${part('days', columns, whole.from, whole.to)}
    union all ${part('quarters', columns, window.from, whole.from)}
    union all ${part('quarters', columns, whole.to, window.to)}
    union all ${part('pending', pending, window.from, window.to)}
  ) as counted`
}
