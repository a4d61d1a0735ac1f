import { sql } from 'kysely'
import { type Window, wholeDays } from './window.ts'

/** Whose figures, of which domain. */
export interface Owner {
  organization_id: string
  domain: string
}

/** Columns that are added up, and what becomes of them where they are still to be added up. */
const FAMILIES = {
  mail_traffic: {
    columns: `sent, delivered, bounced, deferred, rejected, inbound, spam_scores, spam_score_sum`,
    pending: `sent, delivered, bounced, deferred, rejected, inbound, spam_scores, spam_score_sum`,
  },
  engagement: {
    columns: `opened, clicked, unsubscribed, complained, last_opened, last_clicked`,
    // Whom these were the last of is known once they are added up.
    pending: `(event_type = 'opened')::int, (event_type = 'clicked')::int,
      (event_type = 'unsubscribed')::int, (event_type = 'complained')::int, 0, 0`,
  },
} as const

/**
 * All that counts in a window, to select from: whole days where there are any, quarters of an hour at
 * both ends, and what was stored a moment ago. In one statement, so that nothing is missed or seen
 * twice while it is being added up.
 */
export function rolledUp(family: keyof typeof FAMILIES, owner: Owner, window: Window) {
  const { columns, pending } = FAMILIES[family]
  const whole = wholeDays(window)
  const part = (suffix: string, selected: string, from: Date, to: Date) => sql`
    select bucket, ${sql.raw(selected)} from ${sql.table(`${family}_${suffix}`)}
    where organization_id = ${owner.organization_id} and domain = ${owner.domain}
      and bucket >= ${from.toISOString()}::timestamptz
      and bucket < ${to.toISOString()}::timestamptz`
  return sql`(
    ${part('days', columns, whole.from, whole.to)}
    union all ${part('quarters', columns, window.from, whole.from)}
    union all ${part('quarters', columns, whole.to, window.to)}
    union all ${part('pending', pending, window.from, window.to)}
  ) as counted`
}
