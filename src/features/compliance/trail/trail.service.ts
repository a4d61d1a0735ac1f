import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { dateRange } from '../../../lib/date-range.ts'
import { list, type TrailFilter } from './trail.repository.ts'

interface Sent extends Omit<TrailFilter, 'from' | 'to'> {
  start_date?: string
  end_date?: string
}

export type TrailService = ReturnType<typeof trailService>

export const trailService = ({ db }: Pick<Core, 'db'>) => ({
  async list({ start_date, end_date, user_email, ...exact }: Sent, page: Page) {
    const filter = {
      ...exact,
      ...(user_email !== undefined && { user_email: user_email.toLowerCase() }),
      ...dateRange(start_date, end_date, 'start_date/end_date'),
    }
    const { items, total } = await list(db, filter, page)
    return paginated(items, total, page)
  },
})
