import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAddress } from '../lib/router.tsx'
import { Scroll } from './scroll.tsx'
import { t } from './words.ts'

export interface Column<Row> {
  title: string
  /** The name under which the API sorts by this column. */
  sort?: string
  number?: boolean
  /** Left out on a narrow screen; the page of the row has it. */
  minor?: boolean
  /** The title is for screen readers only, e.g. of the column with the menu. */
  quiet?: boolean
  cell(row: Row): ComponentChildren
}

export interface Sort {
  by: string
  dir: 'asc' | 'desc'
  change(by: string, dir: 'asc' | 'desc'): void
}

export interface Selection {
  chosen: ReadonlySet<string>
  change(chosen: Set<string>): void
}

interface Props<Row> {
  caption: string
  columns: Column<Row>[]
  rows: readonly Row[] | undefined
  rowKey(row: Row): string
  /** The name of a row, for its check box. */
  rowName?: (row: Row) => string
  loading?: boolean
  /** The number of rows to leave room for while they are read. */
  expected?: number
  sort?: Sort | undefined
  selection?: Selection | undefined
  empty?: ComponentChildren
}

export function Table<Row>(props: Props<Row>) {
  const { caption, columns, rows, rowKey, loading = false, expected = 8, sort, selection } = props
  if (rows?.length === 0) return <>{props.empty}</>
  return (
    <Scroll label={caption} busy={loading}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th scope="col" class="pick">
                <Pick
                  label={caption}
                  checked={rows?.every((row) => selection.chosen.has(rowKey(row))) ?? false}
                  change={(on) => selection.change(new Set(on ? rows?.map(rowKey) : []))}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.title} column={column as Column<unknown>} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: expected }, (_, index) => (
                <tr key={index} class="ghost">
                  {selection && <td class="pick" />}
                  {columns.map((column) => (
                    <td key={column.title} class={classOf(column)}>
                      <span />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr key={rowKey(row)}>
                  {selection && (
                    <td class="pick">
                      <Pick
                        label={props.rowName?.(row) ?? rowKey(row)}
                        checked={selection.chosen.has(rowKey(row))}
                        change={(on) =>
                          selection.change(toggled(selection.chosen, rowKey(row), on))
                        }
                      />
                    </td>
                  )}
                  {columns.map((column) => (
                    <td key={column.title} class={classOf(column)}>
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Head({ column, sort }: { column: Column<unknown>; sort: Sort | undefined }) {
  if (!column.sort || !sort) {
    return (
      <th scope="col" class={classOf(column)}>
        {column.quiet ? <span class="hidden">{column.title}</span> : column.title}
      </th>
    )
  }
  const isSorted = sort.by === column.sort
  const isDown = sort.dir === 'desc'
  const by = column.sort
  return (
    <th
      scope="col"
      class={classOf(column)}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" onClick={() => sort.change(by, isSorted && !isDown ? 'desc' : 'asc')}>
        {column.title} <span aria-hidden="true">{isSorted ? (isDown ? '↓' : '↑') : ''}</span>
      </button>
    </th>
  )
}

const Pick = ({
  label,
  checked,
  change,
}: {
  label: string
  checked: boolean
  change(on: boolean): void
}) => (
  <input
    type="checkbox"
    aria-label={label}
    checked={checked}
    onChange={(event) => change(event.currentTarget.checked)}
  />
)

function toggled(chosen: ReadonlySet<string>, key: string, on: boolean): Set<string> {
  const next = new Set(chosen)
  if (on) next.add(key)
  else next.delete(key)
  return next
}

const classOf = ({
  number,
  minor,
  quiet,
}: {
  number?: boolean
  minor?: boolean
  quiet?: boolean
}) => [number && 'number', minor && 'minor', quiet && 'last'].filter(Boolean).join(' ') || undefined

export interface Paging {
  /** The name of the list. */
  caption: string
  page: number
  perPage: number
  /** undefined where the API does not count. */
  total: number | undefined
  /** The number of rows of this page. */
  shown: number
  /** The back button leads past a page that another one replaced. */
  change(page: number, replace?: boolean): void
}

/** Leaves a page that is empty because its rows were deleted. */
export function useLastPage(
  isEmpty: boolean,
  { page, perPage, total = 0, change }: Pick<Paging, 'page' | 'perPage' | 'total' | 'change'>,
): void {
  const isPastEnd = isEmpty && page > 1
  useEffect(() => {
    if (isPastEnd) change(Math.ceil(total / perPage), true)
  }, [isPastEnd, total])
}

export function Pager({ caption, page, perPage, total, shown, change }: Paging) {
  const from = shown === 0 ? 0 : (page - 1) * perPage + 1
  const to = (page - 1) * perPage + shown
  const isLast = total === undefined ? shown < perPage : to >= total
  if (page === 1 && isLast && (total ?? shown) === 0) return null
  return (
    <nav class="pager" aria-label={`${t.pages}: ${caption}`}>
      <span class="muted figure" role="status">
        {total === undefined ? t.rangeOpen(from, to) : t.range(from, to, total)}
      </span>
      {(page > 1 || !isLast) && (
        <div>
          <button type="button" disabled={page <= 1} onClick={() => change(page - 1)}>
            {t.previous}
          </button>
          <button type="button" disabled={isLast} onClick={() => change(page + 1)}>
            {t.next}
          </button>
        </div>
      )}
    </nav>
  )
}

/** Links to pages of a list with a cursor: the way back in the browser is the page before. */
export function CursorPager({
  caption,
  cursor,
  next,
}: {
  caption: string
  cursor: string | undefined
  next: string | null
}) {
  const { pathname, searchParams } = useAddress()
  const to = (place: string) => {
    const query = new URLSearchParams(searchParams)
    if (place) query.set('cursor', place)
    else query.delete('cursor')
    return query.size > 0 ? `${pathname}?${query}` : pathname
  }
  if (!cursor && !next) return null
  return (
    <nav class="pager" aria-label={`${t.pages}: ${caption}`}>
      <span />
      <div>
        {cursor && (
          <a class="button" href={to('')}>
            {t.newest}
          </a>
        )}
        {next && (
          <a class="button" href={to(next)}>
            {t.older}
          </a>
        )}
      </div>
    </nav>
  )
}
