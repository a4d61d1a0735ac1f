import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

export { record } from '../../../hosting/compliance-trail.repository.ts'

const columns = [
  'id',
  'action',
  'organization_id',
  'user_email',
  'performed_by',
  'ip_address',
  sql<Record<string, unknown>>`details`.as('details'),
  'created_at',
] as const

export interface TrailFilter {
  action?: string
  user_email?: string
  ip_address?: string
  from?: Date
  to?: Date
}

export async function list(db: Db, filter: TrailFilter, page: Page) {
  let query = db.selectFrom('compliance_audit')
  for (const name of ['action', 'user_email', 'ip_address'] as const) {
    if (filter[name] !== undefined) query = query.where(name, '=', filter[name])
  }
  if (filter.from) query = query.where('created_at', '>=', filter.from.toISOString())
  if (filter.to) query = query.where('created_at', '<=', filter.to.toISOString())
  const items = await query
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}
