import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

export interface SearchFilter {
  q?: string | undefined
  subject?: string | undefined
  sender?: string | undefined
  recipient?: string | undefined
  message_id?: string | undefined
  direction?: 'inbound' | 'outbound' | undefined
  from?: Date | undefined
  to?: Date | undefined
}

const columns = sql.raw(`messages.id, messages.message_id, messages.sender, messages.subject,
  messages.direction, messages.received_at, messages.archived_at, messages.size,
  messages.stored_size, messages.storage_type`)

export interface Found {
  id: string
  message_id: string | null
  sender: string
  recipients: string[]
  subject: string | null
  direction: 'inbound' | 'outbound'
  received_at: string
  archived_at: string
  size: number
  stored_size: number
  storage_type: 'spool' | 's3' | 'local'
}

const recipients = sql`(select coalesce(array_agg(address order by address), '{}')
  from archived_copies where archive_id = messages.id and role = 'recipient') as recipients`

/**
 * Archived messages of an organization, newest first. Only metadata is searched: the messages themselves
 * are sealed.
 */
export async function search(db: Db, organizationId: string, filter: SearchFilter, page: Page) {
  const conditions = conditionsOf(organizationId, filter)
  const where = sql.join(conditions, sql` and `)
  const { rows: items } = await sql<Found>`
    select ${columns}, ${recipients} from (
      select * from archived_messages messages where ${where}
      order by received_at desc, id desc limit ${page.perPage} offset ${page.offset}
    ) as messages
    order by received_at desc, id desc`.execute(db)
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from archived_messages messages where ${where}`.execute(db)
  return { items, total: rows[0]?.total ?? 0 }
}

export const find = async (db: Db, organizationId: string, id: string) =>
  (
    await sql<Found>`
      select ${columns}, ${recipients} from archived_messages messages
      where organization_id = ${organizationId} and id = ${id}`.execute(db)
  ).rows[0]

function conditionsOf(organizationId: string, filter: SearchFilter) {
  const { q, subject, sender, recipient, message_id, direction, from, to } = filter
  const conditions = [sql<SqlBool>`organization_id = ${organizationId}`]
  const words = [...wordsOf(q, ''), ...wordsOf(subject, 'A')]
  if (words.length > 0) {
    conditions.push(sql`search @@ ${words.join(' & ')}::tsquery`)
  }
  if (sender !== undefined) conditions.push(sql`sender = ${sender.toLowerCase()}`)
  if (recipient !== undefined) {
    conditions.push(sql`id in (select archive_id from archived_copies
      where organization_id = ${organizationId} and address = ${recipient.toLowerCase()}
        and role = 'recipient')`)
  }
  if (message_id !== undefined) conditions.push(sql`message_id = ${message_id}`)
  if (direction !== undefined) conditions.push(sql`direction = ${direction}`)
  if (from) conditions.push(sql`received_at >= ${from.toISOString()}::timestamptz`)
  if (to) conditions.push(sql`received_at <= ${to.toISOString()}::timestamptz`)
  return conditions
}

const MAX_WORDS = 20

/** Words as prefixes of a tsquery; quoted, so that nothing in them is an operator. */
const wordsOf = (text: string | undefined, weight: string): string[] =>
  (text ?? '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
    .map((word) => `'${word}':*${weight}`)
