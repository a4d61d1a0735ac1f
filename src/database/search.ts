import { type SqlBool, sql } from 'kysely'

/**
 * A condition: one of the columns contains the text, in upper or lower case. `%` and `_` have no
 * special meaning. A `gin_trgm_ops` index on the columns makes it fast for three characters and more.
 */
export function contains(columns: string | string[], text: string) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const tests = [columns].flat().map((column) => sql<SqlBool>`${sql.ref(column)} ilike ${pattern}`)
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}
