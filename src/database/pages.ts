import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
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

/** Beyond this it pays to know first how many rows there are. */
const DEEP = 1000

/** Where the total is known without counting: the last page is as near as the first. */
export async function pageOfKnown(
  query: Query,
  table: string,
  sort: Sort<string>,
  { perPage, offset }: Slice,
  count: () => Promise<number>,
): Promise<IdsAndTotal> {
  const idsFrom = (direction: 'asc' | 'desc', limit: number, skip: number) =>
    pageOf(query, table, { by: sort.by, direction }, { perPage: limit, offset: skip })
  if (offset < DEEP) {
    const [found, total] = await Promise.all([idsFrom(sort.direction, perPage, offset), count()])
    return { ids: found, total }
  }
  const total = await count()
  const after = total - offset - perPage
  if (after >= offset) return { ids: await idsFrom(sort.direction, perPage, offset), total }
  const length = Math.max(0, Math.min(perPage, perPage + after))
  const fromEnd = await idsFrom(opposite(sort.direction), length, Math.max(0, after))
  return { ids: fromEnd.reverse(), total }
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

export async function pageOf(
  query: Query,
  table: string,
  { by, direction }: Sort<string>,
  { perPage, offset }: Slice,
): Promise<string[]> {
  const rows = await query
    .select(`${table}.id`)
    .orderBy(`${table}.${by}`, direction)
    .orderBy(`${table}.id`, direction)
    .limit(perPage)
    .offset(offset)
    .execute()
  return rows.map((row) => (row as { id: string }).id)
}

type Slice = Pick<Page, 'perPage' | 'offset'>

const opposite = (direction: 'asc' | 'desc') => (direction === 'asc' ? 'desc' : 'asc')

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
