import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { inOrder, pageOf, withIds } from '../../database/pages.ts'
import { containsWhileWalking } from '../../database/search.ts'
import type { Slice } from '../../http/paging.ts'

const columns = [
  'id',
  'timestamp',
  'sender',
  'recipient',
  'subject',
  'status',
  'message_id',
  'size',
  'relay',
  'dsn',
  'spam_score',
  'bounce_reason',
] as const

const MAX_ROWS_OF_MESSAGE = 1000

export interface TraceFilter {
  sender?: string
  recipient?: string
  subject?: string
  status?: 'delivered' | 'bounced' | 'deferred' | 'rejected'
  message_id?: string
  organization_id?: string
  from?: Date
  to?: Date
}

const isMessage = (id: string) => {
  const bare = id.replace(/^<|>$/g, '')
  return sql<SqlBool>`mail_log.message_id = any(${[bare, `<${bare}>`]}::text[])`
}

const matching = (db: Db, filter: TraceFilter) => {
  let query = db.selectFrom('mail_log')
  for (const column of ['sender', 'recipient'] as const) {
    const value = filter[column]?.toLowerCase()
    if (value === undefined) continue
    // Whole addresses are found by an index, parts of one only by looking.
    query = /^.+@.+$/.test(value)
      ? query.where(`mail_log.${column}`, '=', value)
      : query.where(containsWhileWalking(`mail_log.${column}`, value))
  }
  const { subject, status, message_id, organization_id, from, to } = filter
  if (subject !== undefined) {
    query = query.where(sql<SqlBool>`strpos(lower(mail_log.subject), lower(${subject})) > 0`)
  }
  if (status !== undefined) query = query.where('mail_log.status', '=', status)
  if (message_id !== undefined) query = query.where(isMessage(message_id))
  if (organization_id !== undefined) {
    query = query.where('mail_log.organization_id', '=', organization_id)
  }
  if (from) query = query.where('mail_log.timestamp', '>=', from.toISOString())
  if (to) query = query.where('mail_log.timestamp', '<=', to.toISOString())
  return query
}

/** Newest first. */
export async function list(db: Db, filter: TraceFilter, { limit, offset }: Slice) {
  const newestFirst = { by: 'timestamp', direction: 'desc' } as const
  const slice = { perPage: limit, offset }
  const ids = await pageOf(matching(db, filter), 'mail_log', newestFirst, slice)
  const rows = await db
    .selectFrom('mail_log')
    .select(columns)
    .where(withIds('mail_log', ids))
    .execute()
  return inOrder(ids, rows)
}

export const ofMessage = (db: Db, messageId: string) =>
  db
    .selectFrom('mail_log')
    .select(columns)
    .where(isMessage(messageId))
    .orderBy('timestamp')
    .orderBy('id')
    .limit(MAX_ROWS_OF_MESSAGE)
    .execute()
