import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { dateRange } from '../../../lib/date-range.ts'
import * as audit from './audit.repository.ts'

export const AuditEntryNotFound = defineError({ status: 404, message: 'Audit entry not found' })

type Query = Omit<audit.AuditFilter, 'from' | 'to'> & { date_from?: string; date_to?: string }

export type AuditService = ReturnType<typeof auditService>

export const auditService = ({ db }: Pick<Core, 'db'>) => ({
  async list({ date_from, date_to, ...filter }: Query, page: Page) {
    const range = dateRange(date_from, date_to)
    const { items, total } = await audit.list(db, { ...filter, ...range }, page)
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
