import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { claimRows, heldBy, type Lease, type LeasedTable, setReleased } from './lease.ts'

/**
 * A mark names something outside of the database that must be brought up to date. Triggers set it in the
 * transaction of the change. Setting it again increments `changes`, so that work that has already begun
 * is repeated.
 */
export type Mark<Key extends string> = Record<Key, string> & {
  changes: number
  /** Counts the attempts that failed. */
  attempts: number
}

type MarkTable = {
  [Name in LeasedTable]: 'changes' extends keyof Tables[Name] ? Name : never
}[LeasedTable]

interface Marks<Key extends string> {
  /** The column of the primary key. */
  key: Key
  /** Further columns of a claimed mark. */
  columns?: RawBuilder<unknown>
  /** Marks that can be worked on now; the others wait. */
  where?: RawBuilder<SqlBool>
  /** Further assignments when a mark was set again while it was worked on. */
  again?: RawBuilder<unknown>
}

/** Returns the functions that claim the marks in a table and end the work on them. */
export function marksIn<Key extends string, Row extends Mark<Key> = Mark<Key>>(
  table: MarkTable,
  { key, columns, where = sql`true`, again }: Marks<Key>,
) {
  const name = sql.table(table)
  const isHeld = (mark: Row, lease: Lease) =>
    sql`${sql.ref(key)} = ${mark[key]} and ${heldBy(lease)}`
  const optional = (part?: RawBuilder<unknown>) => (part ? sql`, ${part}` : sql``)

  return {
    /** Claims marks that are due. */
    claim: (db: Db, lease: Lease, limit: number): Promise<Row[]> =>
      claimRows<Row>(db, table, lease, {
        key: [key],
        where: sql`due_at <= now() and ${where}`,
        orderBy: sql`due_at, ${sql.ref(key)}`,
        limit,
        returning: sql`${sql.ref(key)}, changes, attempts${optional(columns)}`,
      }),

    /** Deletes a mark. One that was set again in the meantime stays and is due at once. */
    async finish(db: Db, mark: Row, lease: Lease): Promise<void> {
      const { numAffectedRows } = await sql`delete from ${name}
        where changes = ${mark.changes} and ${isHeld(mark, lease)}`.execute(db)
      if (numAffectedRows) return
      // A separate statement, because the first one does not see a change that it waited for.
      await sql`update ${name} set ${setReleased}${optional(again)}
        where ${isHeld(mark, lease)}`.execute(db)
    },

    /** Makes a mark due again later: after one second, then two, four and so on. */
    async postpone(db: Db, mark: Row, lease: Lease, maxSeconds: number): Promise<void> {
      const seconds = Math.min(maxSeconds, 2 ** mark.attempts)
      await sql`update ${name} set attempts = attempts + 1,
          due_at = now() + make_interval(secs => ${seconds}), ${setReleased}
        where ${isHeld(mark, lease)}`.execute(db)
    },
  }
}
