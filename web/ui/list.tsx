import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useQuery } from '../lib/query.ts'
import { useQueryState } from '../lib/router.tsx'
import { Failed } from './failed.tsx'
import { Empty } from './page.tsx'
import { type Column, CursorPager, Pager, type Selection, Table, useLastPage } from './table.tsx'
import { t } from './words.ts'

const PER_PAGE = 25
const TYPING_MS = 250
const FIRST_PAGE = { page: '', cursor: '' }

export interface Asked<Filter extends string> {
  q: string
  page: number
  per_page: number
  sort: string
  dir: 'asc' | 'desc'
  /** The place of the page in a list that the API pages with a cursor. */
  cursor: string | undefined
  /** A filter that is not set is undefined. */
  filters: Partial<Record<Filter, string>>
}

interface Answer<Row> {
  items: readonly Row[]
  pagination?: { total: number }
  /** The cursor of the next page, where the API pages with one; null on the last page. */
  next_cursor?: string | null
}

export type List<Row, Filter extends string = string> = ReturnType<typeof useList<Row, Filter>>

/** A list that the server searches, filters, sorts and pages. The address has the query. */
export function useList<Row, Filter extends string = never>({
  name,
  sort: firstSort,
  dir: firstDir = 'asc',
  filters: names = [],
  read,
  everySeconds,
}: {
  /** The start of the query key: `forget(name)` after a change. */
  name: string
  sort: string
  dir?: 'asc' | 'desc'
  filters?: readonly Filter[]
  read(asked: Asked<Filter>): Promise<Answer<Row>>
  everySeconds?: number
}) {
  const [state, change] = useQueryState<string>('q', 'page', 'cursor', 'sort', 'dir', ...names)
  const asked: Asked<Filter> = {
    q: state.q ?? '',
    page: Math.max(1, Number(state.page) || 1),
    per_page: PER_PAGE,
    cursor: state.cursor || undefined,
    sort: state.sort || firstSort,
    dir: (state.dir || (state.sort ? 'asc' : firstDir)) as 'asc' | 'desc',
    filters: Object.fromEntries(
      names.map((one) => [one, state[one] || undefined]),
    ) as Asked<Filter>['filters'],
  }
  const query = useQuery(`${name} ${JSON.stringify(asked)}`, () => read(asked), { everySeconds })
  const toPage = (page: number, replace = false) =>
    change({ page: page > 1 ? String(page) : '' }, replace)
  useLastPage(!query.loading && query.data?.items.length === 0, {
    page: asked.page,
    perPage: PER_PAGE,
    total: query.data?.pagination?.total,
    change: toPage,
  })
  const isFiltered = asked.q !== '' || Object.values(asked.filters).some(Boolean)
  return {
    ...query,
    asked,
    isFiltered,
    /** Sets filters; the list starts again at its first page. */
    set: (changes: Partial<Record<Filter | 'q', string>>) => change({ ...changes, ...FIRST_PAGE }),
    clear: () =>
      change(Object.fromEntries(['q', 'page', 'cursor', ...names].map((one) => [one, '']))),
    sortBy: (sort: string, dir: string) => change({ sort, dir, ...FIRST_PAGE }, false),
    toPage,
  }
}

/** The search field of a list, with room for filters beside it. */
export function SearchBar<Row, Filter extends string>({
  list,
  label,
  children,
}: {
  list: List<Row, Filter>
  label?: string
  children?: ComponentChildren
}) {
  const { q } = list.asked
  const [typed, setTyped] = useState(q)
  useEffect(() => setTyped(q), [q])
  useEffect(() => {
    if (typed === q) return
    const timer = setTimeout(
      () => list.set({ q: typed } as Parameters<typeof list.set>[0]),
      TYPING_MS,
    )
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class="bar">
      {label && (
        <input
          class="grow"
          type="search"
          aria-label={label}
          placeholder={label}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      {children}
    </search>
  )
}

/** A filter of a list with a few values. */
export const Choice = ({
  label,
  value,
  options,
  change,
}: {
  label: string
  value: string | undefined
  options: readonly (readonly [value: string, text: string])[]
  change(value: string): void
}) => (
  <select
    aria-label={label}
    value={value ?? ''}
    onChange={(event) => change(event.currentTarget.value)}
  >
    <option value="">{label}</option>
    {options.map(([one, text]) => (
      <option key={one} value={one}>
        {text}
      </option>
    ))}
  </select>
)

/** The rows of a list with every state: loading, failed, empty, nothing found. */
export function ListTable<Row, Filter extends string>({
  list,
  caption,
  columns,
  rowKey,
  rowName,
  selection,
  empty,
}: {
  list: List<Row, Filter>
  caption: string
  columns: Column<Row>[]
  rowKey(row: Row): string
  rowName?: (row: Row) => string
  selection?: Selection | undefined
  /** Shown where there are no rows at all: what belongs here, and the first step. */
  empty: ComponentChildren
}) {
  const { asked, data, error, loading } = list
  const nothingFound = (
    <Empty
      title={t.nothingFound}
      action={
        <button type="button" onClick={list.clear}>
          {t.showAll}
        </button>
      }
    >
      {t.nothingFoundHint}
    </Empty>
  )
  return (
    <>
      <Failed error={error} again={list.again} />
      {(data || !error) && (
        <div class="card">
          <Table
            caption={caption}
            columns={columns}
            rows={data?.items}
            rowKey={rowKey}
            {...(rowName && { rowName })}
            loading={loading}
            expected={asked.per_page}
            selection={selection}
            sort={{ by: asked.sort, dir: asked.dir, change: list.sortBy }}
            empty={list.isFiltered || asked.page > 1 || asked.cursor ? nothingFound : empty}
          />
          {data?.next_cursor !== undefined && (
            <CursorPager caption={caption} cursor={asked.cursor} next={data.next_cursor} />
          )}
          {data && data.next_cursor === undefined && (
            <Pager
              caption={caption}
              page={asked.page}
              perPage={asked.per_page}
              total={data.pagination?.total}
              shown={data.items.length}
              change={list.toPage}
            />
          )}
        </div>
      )}
    </>
  )
}
