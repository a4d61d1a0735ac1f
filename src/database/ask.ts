import type { Sql } from 'postgres'

export interface Answer {
  rows: unknown[]
  /** How many rows it concerned, also where none came back. */
  count: number
}

/** Also without parameters, which otherwise would be parsed and planned each time. */
const PREPARED = { prepare: true, simple: false }

/** What a query of postgres.js is made of, once it is answered of no use to anybody. */
const FORGOTTEN = { strings: null, args: null, string: null, signature: null, parameters: null }

/**
 * A statement, prepared at its first use. Answered queries of postgres.js hold on to one another until
 * the old generation is collected: with their rows and texts in them, each small collection took ten
 * times as long. So rows move to an array of ours, and of the query nothing is left.
 */
export async function ask(sql: Sql, text: string, parameters: readonly unknown[]): Promise<Answer> {
  const query = sql.unsafe(text, parameters as never[], PREPARED).values()
  const result = await query
  const rows = result.length === 0 ? [] : Array.from(result, rowMaker(result.columns))
  const answer = { rows, count: result.count ?? 0 }
  result.length = 0
  Object.assign(query, FORGOTTEN)
  return answer
}

type Columns = { name: string }[]
type RowMaker = (values: unknown[]) => unknown

const makers = new WeakMap<Columns, RowMaker>()

/**
 * Written out for the columns of a statement, which postgres.js keeps with it. Given names one after
 * the other, an object grows a dozen times: that was half of what reading a page of a list took. No
 * name is a caller's: statements are written here.
 */
function rowMaker(columns: Columns): RowMaker {
  const known = makers.get(columns)
  if (known) return known
  const fields = columns.map(({ name }, index) => `${JSON.stringify(name)}: values[${index}]`)
  const maker = new Function('values', `return { ${fields.join(', ')} }`) as RowMaker
  makers.set(columns, maker)
  return maker
}
