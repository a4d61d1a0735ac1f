import { CompiledQuery, type RootOperationNode, sql } from 'kysely'
import type { Db } from '../../src/database/database.ts'
import type { DayTable } from '../../src/database/days.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import type { App } from './app.ts'

/** The days of a table in an app, counted from its clock: 0 is today, -1 yesterday. */
export function daysOf(appOf: () => App, { name, time }: DayTable) {
  const at = (days: number) => new Date(appOf().clock.now().getTime() + days * DAY_MS)
  const dateOf = (days: number) => at(days).toISOString().slice(0, 10)
  return {
    at,
    /** The partition of a day. */
    nameOf: (days: number) => `${name}_${dateOf(days).replaceAll('-', '')}`,
    makeDay: (days: number, db: Db = appOf().core.db) =>
      sql`select make_day(${name}, ${time}, ${dateOf(days)}::date)`.execute(db),
    /** The partitions of days that there are. */
    async dayNames(): Promise<string[]> {
      const { rows } = await sql<{ name: string }>`
        select partition_name as name from day_partitions where table_name = ${name}
        order by begins_at`.execute(appOf().core.db)
      return rows.map((row) => row.name)
    },
    /** The partition of each row. */
    async places(): Promise<Record<string, string>> {
      const { rows } = await sql<{ id: string; place: string }>`
        select id, replace(tableoid::regclass::text, 'days.', '') as place from ${sql.table(name)}
        order by id`.execute(appOf().core.db)
      return Object.fromEntries(rows.map(({ id, place }) => [id, place]))
    },
  }
}

/** The partitions in the plans of all queries that the work makes. */
export async function daysReadBy(db: Db, work: (db: Db) => Promise<unknown>): Promise<string[]> {
  const plans = await plansOf(db, work)
  const names = plans.flatMap((plan) =>
    Array.from(plan.matchAll(/ on (\w+_(?:\d{8}|default|before))\b/g), ([, name = '']) => name),
  )
  return [...new Set(names)].sort()
}

/** The plans of all queries that the work makes. Where an index can be used, it is. */
export async function plansOf(db: Db, work: (db: Db) => Promise<unknown>): Promise<string[]> {
  const nodes: RootOperationNode[] = []
  const watched = db.withPlugin({
    transformQuery({ node }) {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await work(watched)
  return db.transaction().execute(async (tx) => {
    // The tables of a test are small enough to be read as a whole.
    await sql`set local enable_seqscan = off`.execute(tx)
    const plans: string[] = []
    for (const node of nodes) {
      const query = tx.getExecutor().compileQuery(node, { queryId: 'explained' })
      const explain = CompiledQuery.raw(`explain ${query.sql}`, [...query.parameters])
      const { rows } = await tx.executeQuery<Record<string, string>>(explain)
      plans.push(rows.flatMap((row) => Object.values(row)).join('\n'))
    }
    return plans
  })
}
