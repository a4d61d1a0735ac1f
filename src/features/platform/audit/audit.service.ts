import type { Core } from '../../../core.ts'
import { defineError, Unprocessable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { parseIso, parseUpperBound } from '../../../lib/dates.ts'
import * as audit from './audit.repository.ts'

export const AuditEntryNotFound = defineError({ status: 404, message: 'Audit entry not found' })

type Query = Omit<audit.AuditFilter, 'from' | 'to'> & { date_from?: string; date_to?: string }

export type AuditService = ReturnType<typeof auditService>

export const auditService = ({ db }: Pick<Core, 'db'>) => ({
  async list({ date_from, date_to, ...filter }: Query, page: Page) {
    const from = date_from === undefined ? undefined : parseIso(date_from)
    const to = date_to === undefined ? undefined : parseUpperBound(date_to)
    if ((date_from !== undefined && !from) || (date_to !== undefined && !to)) {
      throw new Unprocessable('date_from/date_to must be ISO dates or datetimes')
    }
    const { items, total } = await audit.list(
      db,
      { ...filter, ...(from && { from }), ...(to && { to }) },
      page,
    )
    return paginated(items, total, page)
  },

  async get(id: number) {
    const entry = await audit.find(db, id)
    if (!entry) throw new AuditEntryNotFound()
    return entry
  },

  async facets() {
    const [actions, target_types, operatorIds] = await Promise.all([
      audit.distinct(db, 'action'),
      audit.distinct(db, 'target_type'),
      audit.distinct(db, 'operator_id'),
    ])
    return { actions, target_types, operators: await audit.emailsOf(db, operatorIds) }
  },
})
