import { type SqlBool, sql } from 'kysely'

/** Whether one of the columns contains the text, in any case; `%` and `_` are just characters. */
export function contains(columns: string[], text: string) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const tests = columns.map((column) => sql<SqlBool>`${sql.ref(column)} ilike ${pattern}`)
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}
