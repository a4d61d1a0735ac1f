import { CompiledQuery, type RootOperationNode, sql } from 'kysely'
import type { Db } from '../../src/database/database.ts'
import type { DayTable } from '../../src/database/days.ts'

const dayOf = (time: Date) => time.toISOString().slice(0, 10)

export const nameOfDay = ({ name }: DayTable, time: Date) =>
  `${name}_${dayOf(time).replaceAll('-', '')}`

export const makeDay = (db: Db, { name, time }: DayTable, day: Date) =>
  sql`select make_day(${name}, ${time}, ${dayOf(day)}::date)`.execute(db)

/** The names of the days that a table has. */
export async function daysOf(db: Db, { name }: DayTable): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select partition_name as name from day_partitions where table_name = ${name}
    order by begins_at`.execute(db)
  return rows.map((row) => row.name)
}

/** The partition of each row. */
export async function placesOf(db: Db, { name }: DayTable): Promise<Record<string, string>> {
  const { rows } = await sql<{ id: string; place: string }>`
    select id, replace(tableoid::regclass::text, 'days.', '') as place from ${sql.table(name)}
    order by id`.execute(db)
  return Object.fromEntries(rows.map(({ id, place }) => [id, place]))
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
