import { Type } from 'typebox'
import type { Sort } from '../database/paging.ts'
import { OneOf } from './envelope.ts'

export type { Sort } from '../database/paging.ts'

/** `sort_by` and `sort_dir` over these columns, the first being the default. */
export const SortQuery = <const Column extends string>(
  columns: readonly [Column, ...Column[]],
) => ({
  sort_by: Type.Optional(OneOf(columns, { default: columns[0] })),
  sort_dir: Type.Optional(OneOf(['asc', 'desc'], { wants: "Must be 'asc' or 'desc'" })),
})

export const sortOf = <Column extends string>(
  query: { sort_by?: Column; sort_dir?: 'asc' | 'desc' },
  by: NoInfer<Column>,
  direction: 'asc' | 'desc' = 'asc',
): Sort<Column> => ({ by: query.sort_by ?? by, direction: query.sort_dir ?? direction })
