import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Page } from '../http/paging.ts'
import type { Sort } from '../http/sorting.ts'
import type { Db } from './database.ts'

/*
 * A page is read in two steps: its ids, then its rows. The ids come from an index alone, however deep
 * the page lies; and PostgreSQL, which cannot know how long a page is, does not prepare for a long one
 * by scanning the tables that its rows belong to.
 */

export interface IdsAndTotal {
  ids: string[]
  total: number
}

// biome-ignore lint/suspicious/noExplicitAny: the rows of any table that has an id
type Query = SelectQueryBuilder<any, any, object>

type Count = Expression<{ total: number }>

/** Beyond this it pays to know first how many rows there are. */
const DEEP = 1000

/** Where the total comes cheap: both in one statement; and the last page is as near as the first. */
export async function pageOfKnown(
  db: Db,
  query: Query,
  table: string,
  sort: Sort<string>,
  { perPage, offset }: Slice,
  count: Count,
): Promise<IdsAndTotal> {
  if (offset < DEEP) {
    const page = idsOf(query, table, sort, { perPage, offset })
    const { rows } = await sql<IdsAndTotal>`
      select array(${page}) as ids, (${count}) as total`.execute(db)
    return rows[0] as IdsAndTotal
  }
  const counted = await sql<{ total: number }>`select (${count}) as total`.execute(db)
  const total = counted.rows[0]?.total ?? 0
  const after = total - offset - perPage
  if (after >= offset) return { ids: await pageOf(query, table, sort, { perPage, offset }), total }
  const length = Math.max(0, Math.min(perPage, perPage + after))
  const fromEnd = { perPage: length, offset: Math.max(0, after) }
  return { ids: (await pageOf(query, table, reversed(sort), fromEnd)).reverse(), total }
}

/** Where all that is found must be counted anyway, it is looked for once. */
export async function pageOfFound(
  db: Db,
  query: Query,
  table: string,
  { by, direction }: Sort<string>,
  { perPage, offset }: Slice,
): Promise<IdsAndTotal> {
  const found = query.select([`${table}.id`, `${table}.${by} as sort_key`])
  const order = sql.raw(direction)
  const { rows } = await sql<IdsAndTotal>`
    with found as materialized (${found})
    select
      array(
        select id from found order by sort_key ${order}, id ${order}
        limit ${perPage} offset ${offset}
      ) as ids,
      (select count(*) from found) as total`.execute(db)
  return rows[0] as IdsAndTotal
}

export async function pageOf(query: Query, table: string, sort: Sort<string>, slice: Slice) {
  const rows = await idsOf(query, table, sort, slice).execute()
  return rows.map((row) => (row as { id: string }).id)
}

const idsOf = (
  query: Query,
  table: string,
  { by, direction }: Sort<string>,
  { perPage, offset }: Slice,
) =>
  query
    .select(`${table}.id`)
    .orderBy(`${table}.${by}`, direction)
    .orderBy(`${table}.id`, direction)
    .limit(perPage)
    .offset(offset)

type Slice = Pick<Page, 'perPage' | 'offset'>

const reversed = ({ by, direction }: Sort<string>): Sort<string> => ({
  by,
  direction: direction === 'asc' ? 'desc' : 'asc',
})

export const withIds = (table: string, wanted: string[]) =>
  sql<SqlBool>`${sql.ref(`${table}.id`)} = any(${wanted}::text[])`

/** What a row belongs to, looked up for each row of a page; a join would read the whole other table. */
export const nameOf = (table: string, reference: string, column = 'name') =>
  sql<string>`(select ${sql.ref(`${table}.${column}`)} from ${sql.table(table)}
    where ${sql.ref(`${table}.id`)} = ${sql.ref(reference)})`

/** The rows in the order in which their ids were found. */
export function inOrder<Row extends { id: string }>(wanted: string[], rows: Row[]): Row[] {
  const found = new Map(rows.map((row) => [row.id, row]))
  return wanted.flatMap((id) => found.get(id) ?? [])
}
