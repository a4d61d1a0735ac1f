import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'

export const FEEDBACK_SORTS = [
  'created_at',
  'processed_at',
  'isp_name',
  'feedback_type',
  'sender',
  'original_recipient',
] as const

const columns = [
  'id',
  'original_recipient',
  'complaint_recipient',
  'organization_id',
  'isp_name',
  'feedback_type',
  'email_id',
  'subject',
  'sender',
  'processed',
  'suppression_added',
  'created_at',
  'processed_at',
] as const

export interface FeedbackFilter {
  organization_id?: string
  domain?: string
  provider?: string
  feedback_type?: string
  processed?: boolean
  from?: Date
  to?: Date
  q?: string
}

export async function list(
  db: Db,
  filter: FeedbackFilter,
  sort: Sort<(typeof FEEDBACK_SORTS)[number]>,
  page: Page,
) {
  const { organization_id, domain, provider, feedback_type, processed, from, to, q } = filter
  let query = db.selectFrom('feedback_loops')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (domain !== undefined) query = query.where('sender_domain', '=', domain)
  if (provider !== undefined) {
    query = query.where(sql<SqlBool>`lower(isp_name) = lower(${provider})`)
  }
  if (feedback_type !== undefined) {
    query = query.where(sql<SqlBool>`lower(feedback_type) = lower(${feedback_type})`)
  }
  if (processed !== undefined) query = query.where('processed', '=', processed)
  if (from) query = query.where('created_at', '>=', from.toISOString())
  if (to) query = query.where('created_at', '<=', to.toISOString())
  if (q) query = query.where(contains(['feedback_loops.sender'], q))
  const { ids, total } = await pageAndTotal(db, query, 'feedback_loops', sort, page)
  const rows = await db
    .selectFrom('feedback_loops')
    .select(columns)
    .where(withIds('feedback_loops', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

/** About mail that a domain sent, newest first. */
export const ofDomain = (db: Db, domain: string, organizationId: string, limit: number) =>
  db
    .selectFrom('feedback_loops')
    .select(columns)
    .where('sender_domain', '=', domain)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Marks a report as processed, or as open again; returns undefined for an unknown one. */
export const setProcessed = (tx: Tx, id: string, processed: boolean, now: Date) =>
  tx
    .updateTable('feedback_loops')
    .set((eb) => ({
      processed,
      // The time of the first decision stays when it is repeated.
      processed_at: processed ? eb.fn.coalesce('processed_at', eb.val(now.toISOString())) : null,
    }))
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst()

export const deleteBefore = (db: Db, time: Date) =>
  db.deleteFrom('feedback_loops').where('created_at', '<', time.toISOString()).execute()
