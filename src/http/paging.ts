import { type TSchema, Type } from 'typebox'
import type { Page } from '../database/paging.ts'

export type { Page } from '../database/paging.ts'

const DEFAULT_PER_PAGE = 50
const MAX_PER_PAGE = 200
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 500

export const PageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'From 1' })),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_PER_PAGE,
      description: `More than ${MAX_PER_PAGE} means ${MAX_PER_PAGE}`,
    }),
  ),
}

export function pageOf(query: { page?: number; per_page?: number }): Page {
  const page = query.page ?? 1
  const perPage = Math.min(query.per_page ?? DEFAULT_PER_PAGE, MAX_PER_PAGE)
  // A larger offset does not fit a PostgreSQL bigint; such a page is empty anyway.
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)
  return { page, perPage, offset }
}

/** For answers that are a bare array: the number of all rows, which a page does not say. */
export const TOTAL_COUNT = 'x-total-count'

export const paginated = <Item>(items: Item[], total: number, { page, perPage }: Page) => ({
  items,
  pagination: { page, per_page: perPage, total, total_pages: Math.ceil(total / perPage) },
})

export const Paginated = <Item extends TSchema>(item: Item) =>
  Type.Object({
    items: Type.Array(item),
    pagination: Type.Object({
      page: Type.Integer(),
      per_page: Type.Integer(),
      total: Type.Integer(),
      total_pages: Type.Integer(),
    }),
  })

/** Query of lists with `limit` and `offset` instead of pages. */
export const LimitQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_LIMIT,
      description: `More than ${MAX_LIMIT} means ${MAX_LIMIT}`,
    }),
  ),
}

export const SliceQuery = {
  ...LimitQuery,
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Rows to skip' })),
}

export interface Slice {
  limit: number
  offset: number
}

export const limitOf = ({ limit = DEFAULT_LIMIT }: { limit?: number }): number =>
  Math.min(limit, MAX_LIMIT)

export const sliceOf = (query: { limit?: number; offset?: number }): Slice => ({
  limit: limitOf(query),
  // A larger offset does not fit a PostgreSQL bigint; such a slice is empty anyway.
  offset: Math.min(query.offset ?? 0, Number.MAX_SAFE_INTEGER),
})
