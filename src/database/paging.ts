import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from './database.ts'

/*
 * A page is read in two steps: its ids, then its rows. The ids come from an index alone, and only the
 * rows of one page are read and joined.
 */

export interface Page {
  page: number
  perPage: number
  offset: number
}

export interface Sort<Column extends string> {
  by: Column
  direction: 'asc' | 'desc'
}

type Slice = Pick<Page, 'perPage' | 'offset'>

interface IdsAndTotal {
  ids: string[]
  total: number
}

// biome-ignore lint/suspicious/noExplicitAny: a query on any table that has an id
type Query = SelectQueryBuilder<any, any, object>
type Count = Expression<{ total: number }>

/** The ids of one page. */
export async function pageOf(
  query: Query,
  table: string,
  sort: Sort<string>,
  slice: Slice,
): Promise<string[]> {
  const rows = await idsOf(query, table, sort, slice).execute()
  return rows.map(({ id }) => id)
}

/**
 * The ids of one page and the number of all rows of the list. `count` replaces the count of the rows
 * where triggers keep that number.
 */
export async function pageAndTotal(
  db: Db,
  query: Query,
  table: string,
  sort: Sort<string>,
  slice: Slice,
  count: Count = query.select(sql<number>`count(*)`.as('total')),
): Promise<IdsAndTotal> {
  const ids = idsOf(query, table, sort, slice)
  const { rows } = await sql<IdsAndTotal>`
    select array(${ids}) as ids, (${count}) as total`.execute(db)
  return rows[0] as IdsAndTotal
}

/** The same result for a search: finds the matching rows once, then counts and sorts them. */
export async function searchPageAndTotal(
  db: Db,
  query: Query,
  table: string,
  { by, direction }: Sort<string>,
  { perPage, offset }: Slice,
): Promise<IdsAndTotal> {
  const order = sql.raw(direction)
  const { rows } = await sql<IdsAndTotal>`
    with found as materialized (${query.select([`${table}.id`, `${table}.${by} as sort_key`])})
    select
      array(
        select id from found order by sort_key ${order}, id ${order} limit ${perPage} offset ${offset}
      ) as ids,
      (select count(*) from found) as total`.execute(db)
  return rows[0] as IdsAndTotal
}

const idsOf = (query: Query, table: string, { by, direction }: Sort<string>, slice: Slice) =>
  query
    .select(sql<string>`${sql.ref(`${table}.id`)}`.as('id'))
    .orderBy(`${table}.${by}`, direction)
    .orderBy(`${table}.id`, direction)
    .limit(slice.perPage)
    .offset(slice.offset)

export const withIds = (table: string, ids: string[]) =>
  sql<SqlBool>`${sql.ref(`${table}.id`)} = any(${ids}::text[])`

/** A column of the row that a reference points to, looked up for each row of a page. */
export const nameOf = (table: string, reference: string, column = 'name') =>
  sql<string>`(select ${sql.ref(`${table}.${column}`)} from ${sql.table(table)}
    where ${sql.ref(`${table}.id`)} = ${sql.ref(reference)})`

/** The rows in the order of their ids on the page. */
export function inOrder<Row extends { id: string }>(ids: string[], rows: Row[]): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
