import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { parseIso, parseUpperBound } from '../../../lib/dates.ts'
import { list, type TrailFilter } from './trail.repository.ts'

interface Sent extends Omit<TrailFilter, 'from' | 'to'> {
  start_date?: string
  end_date?: string
}

export type TrailService = ReturnType<typeof trailService>

export const trailService = ({ db }: Pick<Core, 'db'>) => ({
  async list({ start_date, end_date, user_email, ...exact }: Sent, page: Page) {
    const from = bound(start_date, parseIso)
    const to = bound(end_date, parseUpperBound)
    const filter = {
      ...exact,
      ...(user_email !== undefined && { user_email: user_email.toLowerCase() }),
      ...(from && { from }),
      ...(to && { to }),
    }
    const { items, total } = await list(db, filter, page)
    return paginated(items, total, page)
  },
})

function bound(text: string | undefined, parse: (text: string) => Date | undefined) {
  if (text === undefined) return undefined
  const date = parse(text)
  if (!date) throw new Unprocessable('start_date/end_date must be ISO dates or datetimes')
  return date
}
