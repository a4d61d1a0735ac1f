import { type RawBuilder, sql } from 'kysely'
import { type Arguments, flagArgument } from '../core/arguments.ts'
import { invalidArguments } from '../core/errors.ts'
import { type Filter, readFilter, readSort, type Sorting } from '../core/filters.ts'
import { LIMITS } from '../core/limits.ts'
import type { Call } from '../core/method.ts'
import { pageOf, pagingArguments } from '../core/standard-methods.ts'
import { filterSql, inThread } from './query-filter.ts'
import { searchMail } from './search-mail.ts'

export const SORT_OPTIONS = [
  ...['receivedAt', 'sentAt', 'size', 'from', 'to', 'subject'],
  ...['hasKeyword', 'allInThreadHaveKeyword', 'someInThreadHaveKeyword'],
]

const COLUMNS: Record<string, RawBuilder<unknown>> = {
  receivedAt: sql`e.received_at`,
  sentAt: sql`e.sent_at`,
  size: sql`e.size`,
  from: sql`e.from_sort`,
  to: sql`e.to_sort`,
  subject: sql`e.subject_sort`,
}

/** The ids that match a query, in its order; all of them or a page. */
export interface Found {
  position: number
  ids: string[]
  total: number | undefined
}

interface Query {
  filter: Filter
  order: RawBuilder<unknown>
  collapseThreads: boolean
}

export function readQuery(call: Call, args: Arguments): Query {
  const sort = readSort(args.sort, SORT_OPTIONS, LIMITS.collationAlgorithms)
  return {
    filter: readFilter(args.filter),
    order: orderSql(sort, call.mail.account.id),
    collapseThreads: flagArgument(args, 'collapseThreads'),
  }
}

/** The database cuts the page, unless an anchor or a position from the end needs the whole list. */
export async function findPage(call: Call, query: Query, args: Arguments): Promise<Found> {
  const paging = pagingArguments(args)
  const wantsTotal = flagArgument(args, 'calculateTotal')
  const matching = await matchingSql(call, query)
  if (paging.anchor !== undefined || paging.position < 0 || paging.limit === undefined) {
    const all = await readAll(call, query, matching)
    return { ...pageOf(all, paging), total: wantsTotal ? all.length : undefined }
  }
  const { position, limit } = paging
  const ids = await readFirst(call, query, matching, position + limit)
  const total = wantsTotal ? await countOf(call, query, matching) : undefined
  return { position, ids: ids.slice(position), total }
}

export async function findAll(call: Call, query: Query): Promise<string[]> {
  return readAll(call, query, await matchingSql(call, query))
}

interface Row {
  id: string
  thread_id: string
}

type Matching = RawBuilder<unknown>

async function rowsOf({ core }: Call, { order }: Query, matching: Matching, limit: number | null) {
  const { rows } = await sql<Row>`
    select e.id, e.thread_id ${matching} order by ${order} limit ${limit}::bigint`.execute(core.db)
  return rows
}

async function readAll(call: Call, query: Query, matching: Matching): Promise<string[]> {
  return idsOf(await rowsOf(call, query, matching, null), query)
}

/** With collapsed threads more messages than ids are read, until there are enough threads. */
async function readFirst(call: Call, query: Query, matching: Matching, count: number) {
  for (let limit = query.collapseThreads ? 4 * count : count; ; limit *= 4) {
    const rows = await rowsOf(call, query, matching, limit)
    const ids = idsOf(rows, query)
    if (ids.length >= count || rows.length < limit) return ids.slice(0, count)
  }
}

/** Collapsing leaves the first matching message of a thread. */
function idsOf(rows: readonly Row[], { collapseThreads }: Query): string[] {
  if (!collapseThreads) return rows.map(({ id }) => id)
  const seen = new Set<string>()
  return rows
    .filter(({ thread_id }) => !seen.has(thread_id) && seen.add(thread_id))
    .map(({ id }) => id)
}

async function countOf({ core }: Call, { collapseThreads }: Query, matching: Matching) {
  const counted = collapseThreads ? sql`count(distinct e.thread_id)` : sql`count(*)`
  const { rows } = await sql<{ count: number }>`
    select ${counted} as count ${matching}`.execute(core.db)
  return Number(rows[0]?.count ?? 0)
}

async function matchingSql(call: Call, { filter }: Query): Promise<Matching> {
  const { id: accountId } = call.mail.account
  const where = filterSql(filter, accountId, await searchMail(call, filter))
  return sql`from jmap_emails e
    where e.account_id = ${accountId} and not e.is_orphan and ${where}`
}

function orderSql(sort: readonly Sorting[], accountId: string): RawBuilder<unknown> {
  const given = sort.length > 0 ? sort : [NEWEST_FIRST]
  const parts = given.map((one) => {
    const direction = one.isAscending ? sql`asc nulls first` : sql`desc nulls last`
    return sql`${keySql(one, accountId)} ${direction}`
  })
  return sql.join([...parts, sql`e.id`])
}

const NEWEST_FIRST: Sorting = { property: 'receivedAt', isAscending: false, keyword: undefined }

function keySql({ property, keyword }: Sorting, accountId: string): RawBuilder<unknown> {
  const column = COLUMNS[property]
  if (column) return column
  if (keyword === undefined) throw invalidArguments(`sort by ${property} needs a keyword`)
  const word = keyword.toLowerCase()
  if (property === 'hasKeyword') return sql`(${word} = any(e.keywords))`
  if (property === 'someInThreadHaveKeyword') return inThread(accountId, word, sql``)
  return sql`(not ${inThread(accountId, word, sql`not`)})`
}
