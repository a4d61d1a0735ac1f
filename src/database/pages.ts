import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Page } from '../http/paging.ts'
import type { Sort } from '../http/sorting.ts'
import type { Db } from './database.ts'
import { countedSearches, type Found, type Mark, markedLists } from './long-lists.ts'

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
/** From here on adding up is worth remembering. */
const MANY = 1000
/** From here on it may be better to walk than to look for what a search finds. */
const SOME = 100

/** How to know the length of a list; where it is added up, that takes as long as finding the page. */
export interface Length {
  count: Count
  isAddedUp: boolean
}

/** Where the total comes cheap: both in one statement; and the last page is as near as the first. */
export async function pageOfKnown(
  db: Db,
  query: Query,
  table: string,
  sort: Sort<string>,
  { perPage, offset }: Slice,
  { count, isAddedUp }: Length,
): Promise<IdsAndTotal> {
  const list = nameOfList(query, table)
  const learned = ({ total }: { total: number }) => {
    if (!isAddedUp || total < MANY) return
    searches.learn(list, Promise.resolve({ total, everything: total }))
  }
  const known = await searches.known(list)
  // Counted from the end, a total of a moment ago would be another page.
  const isMarked = () => marked.before(sorted(list, sort), offset)?.offset === offset
  const end = offset + perPage
  if (known && (end <= known.total / 2 || (end <= known.total && isMarked()))) {
    return { ids: await pageOf(query, table, sort, { perPage, offset }), total: known.total }
  }
  if (offset < DEEP) {
    const page = idsOf(query, table, sort, { perPage, offset })
    const { rows } = await sql<IdsAndTotal>`
      select array(${page}) as ids, (${count}) as total`.execute(db)
    const found = rows[0] as IdsAndTotal
    learned(found)
    return found
  }
  const total = await countOf(db, count)
  learned({ total })
  const after = total - offset - perPage
  if (after >= offset) return { ids: await pageOf(query, table, sort, { perPage, offset }), total }
  return { ids: await pageFromEnd(query, table, sort, { perPage, offset }, after), total }
}

/** A page with so many rows after it, or less than none where it is not full. */
async function pageFromEnd(
  query: Query,
  table: string,
  sort: Sort<string>,
  { perPage, offset }: Slice,
  after: number,
): Promise<string[]> {
  const backwards = reversed(sort)
  if (after >= DEEP) {
    return (await pageOf(query, table, backwards, { perPage, offset: after })).reverse()
  }
  const length = Math.max(0, Math.min(perPage, perPage + after))
  const slice = { perPage: length + 1, offset: Math.max(0, after) }
  const rows = await placesOf(query, table, backwards, slice)
  const list = nameOfList(query, table)
  if (rows.length > length) remember(list, sort, rows.at(-1), offset)
  if (after > 0) remember(list, sort, rows[0], offset + perPage)
  return idsIn(rows.slice(0, length).reverse())
}

/** A search in two forms: for one index that is walked in order, and for another that finds. */
export interface Search {
  walked: Query
  found: () => Query
  everything: () => Count
}

/**
 * Where all that is found must be counted anyway, it is looked for once. Of a search that finds very
 * much, further pages are read in the order of the list, and the count is that of a moment ago.
 */
export async function pageOfFound(
  db: Db,
  { walked, found, everything }: Search,
  table: string,
  sort: Sort<string>,
  slice: Slice,
): Promise<IdsAndTotal> {
  const search = nameOfList(walked, table)
  const known = await searches.known(search)
  if (known && isWorthWalking(known, slice)) {
    return { ids: await pageOf(walked, table, sort, slice), total: known.total }
  }
  const page = lookFor(db, found(), table, sort, slice)
  const learned = async ({ total }: IdsAndTotal) =>
    total < SOME ? undefined : { total, everything: await countOf(db, everything()) }
  if (!known) searches.learn(search, page.then(learned))
  return page
}

/** To find a row and sort it takes about as long as to walk past four; and there is the index to ask. */
const isWorthWalking = ({ total, everything }: Found, { offset, perPage }: Slice) =>
  ((offset + perPage) * everything) / total < 4 * total + 2000

async function lookFor(
  db: Db,
  found: Query,
  table: string,
  { by, direction }: Sort<string>,
  { perPage, offset }: Slice,
) {
  const order = sql.raw(direction)
  // With the place of the row, which no index holds. An index that has the text is there to be walked:
  // where PostgreSQL cannot know how large an organization is, it would walk all of it for a few.
  const row = [`${table}.id`, `${table}.${by} as sort_key`, `${table}.ctid as place`]
  const { rows } = await sql<IdsAndTotal>`
    with found as materialized (${found.select(row)})
    select
      array(
        select id from found order by sort_key ${order}, id ${order} ${slicing({ perPage, offset })}
      ) as ids,
      (select count(*) from found) as total`.execute(db)
  return rows[0] as IdsAndTotal
}

async function countOf(db: Db, count: Count): Promise<number> {
  const { rows } = await sql<{ total: number }>`select (${count}) as total`.execute(db)
  return rows[0]?.total ?? 0
}

const marked = markedLists()
const searches = countedSearches()

/** Deep pages begin at the nearest row whose place is known. */
export async function pageOf(query: Query, table: string, sort: Sort<string>, slice: Slice) {
  if (slice.offset < DEEP) return idsIn(await idsOf(query, table, sort, slice).execute())
  const list = nameOfList(query, table)
  const mark = marked.before(sorted(list, sort), slice.offset)
  const near = mark && (await deepPage(query, table, sort, slice, list, mark))
  // Less than a page: the end, or rows without a value, which come after all marks.
  if (near && near.length === slice.perPage) return near
  return deepPage(query, table, sort, slice, list)
}

async function deepPage(
  query: Query,
  table: string,
  sort: Sort<string>,
  { perPage, offset }: Slice,
  list: string,
  mark?: Mark,
): Promise<string[]> {
  const skip = offset - (mark?.offset ?? 0)
  // With the row before the page, which marks the place for when it is asked for again.
  const before = Math.min(skip, 1)
  const from = mark ? query.where(isAfter(mark, table, sort)) : query
  const rows = await placesOf(from, table, sort, {
    perPage: before + perPage,
    offset: skip - before,
  })
  if (before === 1) remember(list, sort, rows[0], offset)
  if (rows.length === before + perPage) remember(list, sort, rows.at(-1), offset + perPage)
  return idsIn(rows.slice(before))
}

interface Place {
  id: string
  value: string | null
}

const placesOf = (query: Query, table: string, sort: Sort<string>, slice: Slice) =>
  idsOf(query, table, sort, slice)
    .select(sql<string | null>`${sql.ref(`${table}.${sort.by}`)}::text`.as('value'))
    .execute() as Promise<Place[]>

/** That this row stands before the offset. */
function remember(list: string, sort: Sort<string>, row: Place | undefined, offset: number) {
  if (row && row.value !== null) {
    marked.add(sorted(list, sort), { offset, id: row.id, value: row.value })
  }
}

const sorted = (list: string, { by, direction }: Sort<string>) => `${list} ${by} ${direction}`

const isAfter = ({ value, id }: Mark, table: string, { by, direction }: Sort<string>) =>
  sql<SqlBool>`(${sql.ref(`${table}.${by}`)}, ${sql.ref(`${table}.id`)})
    ${sql.raw(direction === 'asc' ? '>' : '<')} (${value}, ${id})`

/** The same for the same list, whatever page of it is asked for. */
function nameOfList(query: Query, table: string): string {
  const { sql: text, parameters } = query.select(`${table}.id`).compile()
  return `${text} ${JSON.stringify(parameters)}`
}

const idsIn = (rows: unknown[]) => (rows as { id: string }[]).map(({ id }) => id)

const idsOf = (query: Query, table: string, { by, direction }: Sort<string>, slice: Slice) =>
  query
    .select(`${table}.id`)
    .orderBy(`${table}.${by}`, direction)
    .orderBy(`${table}.id`, direction)
    .modifyEnd(slicing(slice))

/** Of first pages as people ask for them the length is written out: planned once, and not each time. */
const USUAL = new Set([10, 20, 25, 50, 100, 200])

const slicing = ({ perPage, offset }: Slice) =>
  offset === 0 && USUAL.has(perPage)
    ? sql`limit ${sql.lit(perPage)}`
    : sql`limit ${perPage} offset ${offset}`

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
