import { type RawBuilder, sql } from 'kysely'

type ColumnType =
  | 'text'
  | 'integer'
  | 'smallint'
  | 'bigint'
  | 'double precision'
  | 'timestamptz'
  | 'jsonb'
  | 'boolean'
  /** As `\x` and hexadecimal digits. */
  | 'bytea'
  /** As `x` and hexadecimal digits. */
  | 'bit(512)'
export type BulkColumns = Record<string, ColumnType>
type Value = string | number | boolean | object | null

/**
 * A subquery with these columns to insert many rows from: one array parameter for each column, so the
 * statement is the same however many rows there are.
 */
export function bulkRows<Columns extends BulkColumns>(
  columns: Columns,
  rows: readonly { [Name in keyof Columns]: Value }[],
): RawBuilder<unknown> {
  const names = Object.keys(columns)
  const arrays = names.map((name) => sql`${rows.map((row) => textOf(row[name]))}::text[]`)
  const values = names.map(
    (name) => sql`rows.${sql.ref(name)}::${sql.raw(columns[name] ?? 'text')} as ${sql.ref(name)}`,
  )
  return sql`(select ${sql.join(values)}
    from unnest(${sql.join(arrays)}) as rows (${sql.join(names.map((name) => sql.ref(name)))}))`
}

function textOf(value: Value | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
