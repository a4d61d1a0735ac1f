import { sql } from 'kysely'
import { ago, type Block, lastHours } from './block.ts'

interface Security {
  failed_auth_24h: number
  denied_actions_24h: number
  failed_auth_series: { hour: string; count: number }[]
}

export const security: Block<Security> = async ({ db, now }) => {
  const time = now()
  const since = ago(time, 24)
  const hours = lastHours(time)
  // Attempts, not rows: a row is a counter. Logins are counted by address and by account; either
  // would do, both would be double.
  const { rows } = await sql<{ hour: string; count: number; lately: number }>`
    select date_trunc('hour', last_attempt_at, 'UTC') as hour, sum(attempt_count)::int as count,
      coalesce(sum(attempt_count) filter (where last_attempt_at > ${since}), 0)::int as lately
    from failed_auth_attempts
    where last_attempt_at > ${since} and client_ip <> ''
    group by 1`.execute(db)
  const { denied_actions_24h } = await db
    .selectFrom('operator_audit')
    .select(sql<number>`count(*)`.as('denied_actions_24h'))
    .where('created_at', '>', since)
    // In these words an index has them.
    .where(sql<boolean>`status_code in (401, 403)`)
    .executeTakeFirstOrThrow()
  const counts = new Map(rows.map(({ hour, count }) => [hour, count]))
  return {
    failed_auth_24h: rows.reduce((sum, { lately }) => sum + lately, 0),
    denied_actions_24h,
    failed_auth_series: hours.map((hour) => ({ hour, count: counts.get(hour) ?? 0 })),
  }
}
