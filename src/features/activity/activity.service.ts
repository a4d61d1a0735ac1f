import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { narrowed } from '../../database/scope.ts'
import { findEvent } from '../../events/catalogue.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { dateRange } from '../../lib/date-range.ts'
import * as activity from './activity.repository.ts'

type Query = Omit<activity.ActivityFilter, 'from' | 'to'> & {
  date_from?: string
  date_to?: string
  organization_id?: string
}

export type ActivityService = ReturnType<typeof activityService>

/** The activity in an organization. The names of operators are hidden from tenants. */
export const activityService = ({ db }: Pick<Core, 'db'>) => ({
  async list(
    { scope }: Caller,
    { organization_id, date_from, date_to, ...filter }: Query,
    page: Page,
  ) {
    const range = dateRange(date_from, date_to)
    const { rows, total } = await activity.list(
      db,
      narrowed(scope, organization_id),
      { ...filter, ...range },
      page,
    )
    const items = rows.map((row) => ({ ...row, summary: summaryOf(row.action) }))
    return paginated(items, total, page)
  },
})

/** `update_domain` is "Update domain"; events have a sentence in the catalogue. */
const summaryOf = (action: string): string =>
  findEvent(action)?.summary ??
  (action.charAt(0).toUpperCase() + action.slice(1)).replaceAll(/[_.]/g, ' ')
