import { type SqlBool, sql } from 'kysely'

/** Whether one of the columns contains the text, in any case; `%` and `_` are just characters. */
export function contains(columns: string[], text: string) {
  const pattern = patternOf(text)
  const tests = columns.map((column) => sql<SqlBool>`${sql.ref(column)} ilike ${pattern}`)
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}

/** The same for a column that is in lower case already, which costs a third. */
export const containsInLowerCase = (column: string, text: string) =>
  sql<SqlBool>`${sql.ref(column)} like lower(${patternOf(text)})`

/**
 * The same where the rows are walked in the order of a list. No index looks for this, and the planner
 * takes it for something that many rows have.
 */
export const containsWhileWalking = (column: string, text: string) =>
  sql<SqlBool>`strpos(${sql.ref(column)}, lower(${text})) > 0`

const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
