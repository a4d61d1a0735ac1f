import type { Core } from '../../../../core.ts'
import { Unprocessable } from '../../../../errors.ts'
import { type Page, paginated } from '../../../../http/paging.ts'
import { parseIso, parseUpperBound } from '../../../../lib/dates.ts'
import * as history from './history.repository.ts'

type Query = Omit<history.HistoryFilter, 'from' | 'to'> & { date_from?: string; date_to?: string }

export type HistoryService = ReturnType<typeof historyService>

export const historyService = ({ db }: Pick<Core, 'db'>) => ({
  async list(
    { date_from, date_to, ...filter }: Query,
    sorting: history.HistorySorting,
    page: Page,
  ) {
    const from = date_from === undefined ? undefined : parseIso(date_from)
    const to = date_to === undefined ? undefined : parseUpperBound(date_to)
    if ((date_from !== undefined && !from) || (date_to !== undefined && !to)) {
      throw new Unprocessable('date_from/date_to must be ISO dates or datetimes')
    }
    const wanted = { ...filter, ...(from && { from }), ...(to && { to }) }
    const { items, total } = await history.list(db, wanted, sorting, page)
    return paginated(items, total, page)
  },
})
