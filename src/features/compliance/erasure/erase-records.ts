import { type RawBuilder, sql } from 'kysely'
import type { Core } from '../../../core.ts'
import {
  actorIn,
  type Condition,
  namesOf,
  type Person,
  type PersonalTable,
  words,
} from '../personal-data/personal-table.ts'
import { register } from '../personal-data/register.ts'
import type { Add, Eraser } from './erasers.ts'
import { pseudonymOf } from './pseudonym.ts'

const BATCH_SIZE = 1000

function eraserOf(entry: PersonalTable): Eraser[] {
  const { erased, find, table } = entry
  if ('delete' in erased) {
    const [name, count] = erased.delete
    const deleting = (_core: Core, person: Person, condition: Condition) => sql`
      delete from ${sql.table(table)} where ${batch(table, condition, erased.only?.(person))}`
    return [{ name, erase: inBatches(find, count, deleting) }]
  }
  if ('rename' in erased) {
    const [name, count] = erased.as
    const renaming = ({ vault }: Core, { email }: Person, condition: Condition) => {
      const pseudonym = pseudonymOf(vault, email)
      const names = erased.rename.map(
        (column) => sql`${sql.ref(column)} =
          case when ${sql.ref(column)} = ${email} then ${pseudonym} else ${sql.ref(column)} end`,
      )
      const cleared = erased.clear.map((column) => sql`${sql.ref(column)} = null`)
      return sql`update ${sql.table(table)} set ${sql.join([...names, ...cleared])}
        where ${batch(table, condition)}`
    }
    return [{ name, erase: inBatches(find, count, renaming) }]
  }
  return []
}

/** Replaces the name of the person as a caller; its kind, such as `user:`, stays. */
function actorEraserOf({ table, actors }: PersonalTable): Eraser[] {
  if (actors === undefined) return []
  const columns = words(actors)
  const renaming = ({ vault }: Core, { email }: Person, condition: Condition) => {
    const names = columns.map((name) => {
      const column = sql.ref(name)
      return sql`${column} = case when ${column} = any(${namesOf(email)}::text[])
        then replace(${column}, ${email}, ${pseudonymOf(vault, email)}) else ${column} end`
    })
    return sql`update ${sql.table(table)} set ${sql.join(names)}
      where ${batch(table, condition)}`
  }
  return [{ name: 'actors', erase: inBatches(actorIn(...columns), 'names', renaming) }]
}

const batch = (table: string, condition: Condition, only: Condition = sql`true`) =>
  sql`(tableoid, ctid) in (select tableoid, ctid from ${sql.table(table)}
    where (${condition}) and ${only} limit ${BATCH_SIZE})`

/** Ends when no row matches: a row that moved while a batch was made is found by the next one. */
const inBatches =
  (
    find: PersonalTable['find'],
    count: string,
    statement: (core: Core, person: Person, condition: Condition) => RawBuilder<unknown>,
  ) =>
  async (core: Core, person: Person, add: Add): Promise<void> => {
    for (const condition of find(person)) {
      for (;;) {
        const rows = await core.db.transaction().execute(async (tx) => {
          const { numAffectedRows = 0n } = await statement(core, person, condition).execute(tx)
          await add(tx, { [count]: Number(numAffectedRows) })
          return Number(numAffectedRows)
        })
        if (rows === 0) break
      }
    }
  }

/** The erasers of each table of the register whose rows are deleted or renamed, or name callers. */
export const recordErasers: readonly Eraser[] = register.flatMap((entry) => [
  ...eraserOf(entry),
  ...actorEraserOf(entry),
])
