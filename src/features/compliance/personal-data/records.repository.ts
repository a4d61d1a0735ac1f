import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { PastDays } from '../../../hosting/past-days.ts'
import { pastOwners } from './past-mail.ts'
import {
  actorIn,
  type Condition,
  type Person,
  type PersonalTable,
  words,
} from './personal-table.ts'
import { register } from './register.ts'

const BATCH_SIZE = 500

/** Yields the rows of a table about one of these persons, each once, without the withheld columns. */
export async function* recordsOf(db: Db, entry: PersonalTable, ...persons: readonly Person[]) {
  const conditions = persons.flatMap((person) => entry.find(person))
  for (const part of await partsOf(db, entry.table)) yield* recordsIn(db, part, entry, conditions)
}

/** The partitions of a table, or the table itself: the place of a row is unique in each of them. */
async function partsOf(db: Db, table: string): Promise<RawBuilder<unknown>[]> {
  const { rows } = await sql<{ schema: string; name: string }>`
    select relnamespace::regnamespace::text as schema, relname as name
    from pg_partition_tree(${table}::regclass) join pg_class on oid = relid
    where isleaf order by relname`.execute(db)
  return rows.length === 0 ? [sql.table(table)] : rows.map((row) => sql.id(row.schema, row.name))
}

async function* recordsIn(
  db: Db,
  part: RawBuilder<unknown>,
  entry: PersonalTable,
  conditions: readonly Condition[],
) {
  const earlier: Condition[] = []
  for (const condition of conditions) {
    // Skips the rows that an earlier condition has already returned.
    const isNew = earlier.map((one) => sql`and (${one}) is not true`)
    let after = '(0,0)'
    for (;;) {
      const { rows } = await sql<{ place: string; row: Record<string, unknown> }>`
        select ctid::text as place, to_jsonb(t) - ${words(entry.withheld ?? '')}::text[] as row
        from ${part} t
        where ctid > ${after}::tid and (${condition}) ${sql.join(isNew, sql` `)}
        order by ctid limit ${BATCH_SIZE}`.execute(db)
      for (const { row } of rows) yield row
      const last = rows.at(-1)
      if (!last || rows.length < BATCH_SIZE) break
      after = last.place
    }
    earlier.push(condition)
  }
}

const anyOf = (conditions: readonly Condition[]) =>
  conditions.length === 0
    ? sql`false`
    : sql.join(
        conditions.map((one) => sql`(${one})`),
        sql` or `,
      )

/** Rows that remain after an erasure do not count, nor do events, which need a slow search. */
const UNCOUNTED = new Set(['data_erasures', 'compliance_audit', 'events', 'organizations'])

/** Returns whether anything is stored about a person who has no mailbox. */
export async function isKnown(db: Db, past: PastDays, person: Person): Promise<boolean> {
  const tables = register.filter(
    ({ table, exported, actors }) =>
      !UNCOUNTED.has(table) && (exported === 'records' || 'in' in exported || actors !== undefined),
  )
  for (const { table, find, actors = '' } of tables) {
    const conditions = [...find(person), ...actorIn(...words(actors))(person)]
    const { rows } = await sql<{ found: boolean }>`
      select exists (select from ${sql.table(table)} where ${anyOf(conditions)}) as found`.execute(
      db,
    )
    if (rows[0]?.found) return true
  }
  return (await pastOwners(past, person)).length > 0
}

/** The organizations that own rows which an erasure of the person would change. */
export async function ownersOf(db: Db, past: PastDays, person: Person): Promise<string[]> {
  const owners = new Set(person.organization_id === null ? [] : [person.organization_id])
  for (const { table, owner, find } of register) {
    if (owner === undefined) continue
    const { rows } = await sql<{ owner: string | null }>`
      select distinct ${sql.ref(owner)} as owner from ${sql.table(table)}
      where ${anyOf(find(person))}`.execute(db)
    for (const row of rows) if (row.owner !== null) owners.add(row.owner)
  }
  for (const owner of await pastOwners(past, person)) if (owner !== null) owners.add(owner)
  return [...owners].sort()
}
