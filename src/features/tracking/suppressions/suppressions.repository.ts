import type { Db } from '../../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../../database/paging.ts'
import { contains } from '../../../database/search.ts'
import type { SuppressionType } from '../../../hosting/suppressions.repository.ts'
import type { Page } from '../../../http/paging.ts'
import type { Sort } from '../../../http/sorting.ts'

const columns = [
  'id',
  'email',
  'organization_id',
  'suppression_type',
  'reason',
  'source',
  'bounce_type',
  'bounce_count',
  'active',
  'expires_at',
  'created_at',
  'updated_at',
] as const

interface SuppressionFilter {
  organization_id?: string
  suppression_type?: SuppressionType
  active?: boolean
  q?: string
  from?: Date
  to?: Date
}

export async function list(
  db: Db,
  filter: SuppressionFilter,
  sort: Sort<'created_at' | 'email'>,
  { perPage, offset }: Page,
) {
  const { organization_id, suppression_type, active, q, from, to } = filter
  let query = db.selectFrom('suppressions')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (suppression_type !== undefined) query = query.where('suppression_type', '=', suppression_type)
  if (active !== undefined) query = query.where('active', '=', active)
  if (q) query = query.where(contains('suppressions.email', q))
  if (from) query = query.where('created_at', '>=', from.toISOString())
  if (to) query = query.where('created_at', '<=', to.toISOString())
  const { ids, total } = await pageAndTotal(db, query, 'suppressions', sort, { perPage, offset })
  const rows = await db
    .selectFrom('suppressions')
    .select(columns)
    .where(withIds('suppressions', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}
