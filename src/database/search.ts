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

/** The same for a column in lower case with an index of its `search_pieces`, where tables are long. */
export const containsByPieces = (column: string, text: string) =>
  sql<SqlBool>`(search_pieces(${sql.ref(column)}) @@ (select search_for(${text}))
    and ${containsWhileWalking(column, text)})`

/** What is shorter than a piece begins many of them. */
export const isShorterThanPieces = (text: string) => [...text].length < PIECE

// As in the functions of the database.
const PIECE = 4

/**
 * The same where the rows are walked in the order of a list. No index looks for this, and the planner
 * takes it for something that many rows have.
 */
export const containsWhileWalking = (column: string, text: string) =>
  sql<SqlBool>`strpos(${sql.ref(column)}, ${inLowerCase(text)}) > 0`

/** ASCII is the same everywhere; other letters PostgreSQL converts, once and not for each row. */
const inLowerCase = (text: string) =>
  /^[\x20-\x7e]*$/.test(text) ? sql`${text.toLowerCase()}` : sql`(select lower(${text}))`

const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
