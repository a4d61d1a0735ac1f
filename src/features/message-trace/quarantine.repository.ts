import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageOfKnown, withIds } from '../../database/pages.ts'
import { contains } from '../../database/search.ts'
import type { Slice } from '../../http/paging.ts'

const columns = [
  'id',
  'organization_id',
  'message_id',
  'queue_id',
  'sender',
  'recipient',
  'subject',
  'reason',
  'spam_score',
  'virus_name',
  'rule_id',
  sql<Record<string, unknown>>`headers`.as('headers'),
  'status',
  'released_by',
  'released_at',
  'expires_at',
  'created_at',
] as const

export type QuarantineStatus = 'quarantined' | 'released' | 'deleted' | 'expired'
export type QuarantineReason = 'spam' | 'virus' | 'policy' | 'transport_rule' | 'admin'

export interface QuarantineFilter {
  organization_id?: string
  status: QuarantineStatus
  reason?: QuarantineReason
  q?: string
}

export type QuarantineRow = NonNullable<Awaited<ReturnType<typeof find>>>

export async function list(db: Db, filter: QuarantineFilter, { limit, offset }: Slice) {
  const { organization_id, status, reason, q } = filter
  let query = db.selectFrom('quarantine').where('quarantine.status', '=', status)
  if (organization_id !== undefined) {
    query = query.where('quarantine.organization_id', '=', organization_id)
  }
  if (reason !== undefined) query = query.where('quarantine.reason', '=', reason)
  if (q) query = query.where(contains(['sender', 'recipient', 'subject'], q))
  const newestFirst = { by: 'created_at', direction: 'desc' } as const
  const { ids, total } = await pageOfKnown(
    db,
    query,
    'quarantine',
    newestFirst,
    { perPage: limit, offset },
    { count: query.select(sql<number>`count(*)`.as('total')), isAddedUp: false },
  )
  const rows = await db
    .selectFrom('quarantine')
    .select(columns)
    .where(withIds('quarantine', ids))
    .execute()
  return { rows: inOrder(ids, rows), total }
}

export const find = (db: Db, id: string) =>
  db.selectFrom('quarantine').select(columns).where('id', '=', id).executeTakeFirst()

export const lock = (tx: Tx, id: string) =>
  tx
    .selectFrom('quarantine')
    .select([...columns, 'release_begun_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

export const idsOfMessage = async (db: Db, messageId: string): Promise<string[]> => {
  const bare = messageId.replace(/^<|>$/g, '')
  const rows = await db
    .selectFrom('quarantine')
    .select('id')
    .where(sql<SqlBool>`message_id = any(${[bare, `<${bare}>`]}::text[])`)
    .execute()
  return rows.map(({ id }) => id)
}

export const update = (
  tx: Tx,
  id: string,
  fields: {
    status?: QuarantineStatus
    released_by?: string
    released_at?: string
    release_begun_at?: string | null
  },
) =>
  tx
    .updateTable('quarantine')
    .set(fields)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const contentOf = async (db: Db, id: string): Promise<Buffer | undefined> => {
  const row = await db
    .selectFrom('quarantined_messages')
    .select('content')
    .where('quarantine_id', '=', id)
    .executeTakeFirst()
  return row && Buffer.from(row.content)
}

export interface NewQuarantined {
  id: string
  organization_id: string | null
  message_id: string | null
  queue_id: string | null
  sender: string
  recipient: string
  subject: string | null
  reason: QuarantineReason
  spam_score?: number | null
  virus_name?: string | null
  rule_id?: string | null
  headers: object
  expires_at: string
  created_at: string
}

export async function insert(tx: Tx, row: NewQuarantined, sealedContent: Buffer): Promise<void> {
  await tx.insertInto('quarantine').values(row).execute()
  await tx
    .insertInto('quarantined_messages')
    .values({ quarantine_id: row.id, content: sealedContent })
    .execute()
}

export const blockSender = (
  tx: Tx,
  row: {
    id: string
    organization_id: string
    sender: string
    reason: string
    quarantine_id: string
    created_by: string
    created_at: string
  },
) =>
  tx
    .insertInto('blocked_senders')
    .values(row)
    .onConflict((conflict) => conflict.columns(['organization_id', 'sender']).doNothing())
    .execute()

/** Answers whether the block was this message's; others stand. */
export const unblockSender = async (tx: Tx, quarantineId: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('blocked_senders')
    .where('quarantine_id', '=', quarantineId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Whoever has not decided by then never will; the messages themselves go. */
export async function expire(db: Db, now: Date): Promise<void> {
  await sql`
    with expired as (
      update quarantine set status = case status when 'quarantined' then 'expired' else status end
      where status in ('quarantined', 'deleted') and expires_at <= ${now.toISOString()}::timestamptz
      returning id
    )
    delete from quarantined_messages where quarantine_id in (select id from expired)`.execute(db)
}
