import { sql } from 'kysely'
import type { Block } from './block.ts'

interface Certificates {
  total: number
  expiring_30d: number
  expiring_7d: number
  soonest_expiry_days: number | null
}

/** What is in use and still valid may expire; the rest only counts. */
export const certificates: Block<Certificates> = async ({ db, now }) => {
  const time = sql`${now().toISOString()}::timestamptz`
  const inUse = sql`status = 'active' and valid_until > ${time}`
  const within = (days: number) =>
    sql<number>`count(*) filter (where ${inUse} and valid_until <= ${time} + make_interval(days => ${days}))`
  return db
    .selectFrom('certificates')
    .select([
      sql<number>`count(*)`.as('total'),
      within(30).as('expiring_30d'),
      within(7).as('expiring_7d'),
      sql<number | null>`round(extract(epoch from
        min(valid_until) filter (where ${inUse}) - ${time}) / 86400, 2)::float8`.as(
        'soonest_expiry_days',
      ),
    ])
    .executeTakeFirstOrThrow()
}
