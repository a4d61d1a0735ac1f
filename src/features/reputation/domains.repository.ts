import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import type { PeriodType } from './period.ts'

export const DOMAIN_SORTS = [
  'overall_score',
  'deliverability_score',
  'engagement_score',
  'domain',
  'emails_sent',
  'emails_delivered',
  'emails_bounced',
  'emails_complained',
  'emails_opened',
  'emails_clicked',
  'period_start',
] as const

const columns = [
  'id',
  'domain',
  'domain_id',
  'organization_id',
  'overall_score',
  'deliverability_score',
  'engagement_score',
  'emails_sent',
  'emails_delivered',
  'emails_bounced',
  'emails_complained',
  'emails_opened',
  'emails_clicked',
  'period_start',
  'period_end',
  'period_type',
  sql<Record<string, unknown> | null>`isp_data`.as('isp_data'),
  'trend',
] as const

export interface DomainFilter {
  period_type: PeriodType
  organization_id?: string
  q?: string
  max_score?: number
}

const matching = (db: Db, { period_type, organization_id, q, max_score }: DomainFilter) => {
  let query = db
    .selectFrom('domain_reputation')
    .where('period_type', '=', period_type)
    .where('is_newest', '=', true)
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (q) query = query.where(contains('domain_reputation.domain', q))
  if (max_score !== undefined) query = query.where('overall_score', '<=', max_score)
  return query
}

/** The newest period of each domain. */
export async function list(
  db: Db,
  filter: DomainFilter,
  sort: Sort<(typeof DOMAIN_SORTS)[number]>,
  page: Page,
) {
  const query = matching(db, filter)
  const { ids, total } = await pageAndTotal(db, query, 'domain_reputation', sort, page)
  const rows = await db
    .selectFrom('domain_reputation')
    .select(columns)
    .where(withIds('domain_reputation', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

export const worst = (db: Db, filter: DomainFilter, limit: number) =>
  matching(db, filter).select(columns).orderBy('overall_score').orderBy('id').limit(limit).execute()

/** Newest first. */
export const history = (db: Db, domainId: string, period: PeriodType, limit: number) =>
  db
    .selectFrom('domain_reputation')
    .select(columns)
    .where('domain_id', '=', domainId)
    .where('period_type', '=', period)
    .orderBy('period_start', 'desc')
    .limit(limit)
    .execute()

export const find = (db: Db, domain: string) =>
  db
    .selectFrom('domains')
    .select(['id', 'domain', 'organization_id'])
    .where('domain', '=', domain)
    .where('ownership_verified_at', 'is not', null)
    .executeTakeFirst()
