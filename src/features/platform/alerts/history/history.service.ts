import type { Core } from '../../../../core.ts'
import { type Page, paginated } from '../../../../http/paging.ts'
import { dateRange } from '../../../../lib/date-range.ts'
import * as history from './history.repository.ts'

type Query = Omit<history.HistoryFilter, 'from' | 'to'> & { date_from?: string; date_to?: string }

export type HistoryService = ReturnType<typeof historyService>

export const historyService = ({ db }: Pick<Core, 'db'>) => ({
  async list(
    { date_from, date_to, ...filter }: Query,
    sorting: history.HistorySorting,
    page: Page,
  ) {
    const range = dateRange(date_from, date_to)
    const { items, total } = await history.list(db, { ...filter, ...range }, sorting, page)
    return paginated(items, total, page)
  },
})
