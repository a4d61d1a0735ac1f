import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageOfKnown, withIds } from '../../database/pages.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { ulid } from '../../lib/ulid.ts'

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
  const { ids, total } = await pageOfKnown(db, query, 'feedback_loops', sort, page, {
    count: query.select(sql<number>`count(*)`.as('total')),
    isAddedUp: false,
  })
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

export interface NewFeedback {
  organization_id: string
  original_recipient: string
  complaint_recipient: string | null
  isp_name: string
  feedback_type: string
  email_id: string | null
  subject: string | null
  sender: string | null
  sender_domain: string | null
  digest: string | null
  processed: boolean
  suppression_added: boolean
}

/** Undefined when the same report is there already. */
export const insert = (tx: Tx, row: NewFeedback, now: Date) =>
  tx
    .insertInto('feedback_loops')
    .values({
      ...row,
      id: ulid(),
      created_at: now.toISOString(),
      processed_at: row.processed ? now.toISOString() : null,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'digest']).doNothing())
    .returning(columns)
    .executeTakeFirst()

export const findByDigest = (db: Db, organizationId: string, digest: string) =>
  db
    .selectFrom('feedback_loops')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('digest', '=', digest)
    .executeTakeFirst()

export const deleteBefore = (db: Db, time: Date) =>
  db.deleteFrom('feedback_loops').where('created_at', '<', time.toISOString()).execute()
