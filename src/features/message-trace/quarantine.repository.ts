import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { contains } from '../../database/search.ts'
import { lockOrganization } from '../../hosting/held-mailboxes.repository.ts'
import type { Slice } from '../../http/paging.ts'
import { heldBy, isFree, type Lease, leased, released } from '../../jobs/lease.ts'

const columns = [
  'id',
  'organization_id',
  'message_id',
  'queue_id',
  'sender',
  'login',
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
type QuarantineReason = 'spam' | 'virus' | 'policy' | 'transport_rule' | 'admin'

export interface QuarantineFilter {
  organization_id?: string
  status: QuarantineStatus
  reason?: QuarantineReason
  q?: string
}

export type LockedRow = NonNullable<Awaited<ReturnType<typeof lock>>>

export async function list(db: Db, filter: QuarantineFilter, { limit, offset }: Slice) {
  const { organization_id, status, reason, q } = filter
  let query = db.selectFrom('quarantine').where('quarantine.status', '=', status)
  if (organization_id !== undefined) {
    query = query.where('quarantine.organization_id', '=', organization_id)
  }
  if (reason !== undefined) query = query.where('quarantine.reason', '=', reason)
  if (q) query = query.where(contains(['sender', 'recipient', 'subject'], q))
  const newestFirst = { by: 'created_at', direction: 'desc' } as const
  const { ids, total } = await pageAndTotal(db, query, 'quarantine', newestFirst, {
    perPage: limit,
    offset,
  })
  const rows = await db
    .selectFrom('quarantine')
    .select(columns)
    .where(withIds('quarantine', ids))
    .execute()
  return { rows: inOrder(ids, rows), total }
}

export const lock = (tx: Tx, id: string) =>
  tx
    .selectFrom('quarantine')
    .select([...columns, 'author', sql<boolean>`${isFree}`.as('is_free')])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

/** Claims the message for a release. The caller has locked the row and seen that it is free. */
export const claimRelease = (tx: Tx, id: string, lease: Lease) =>
  tx.updateTable('quarantine').set(leased(lease)).where('id', '=', id).execute()

/** Undefined when the lease was lost: another request has decided meanwhile. */
export const finishRelease = (
  tx: Tx,
  id: string,
  lease: Lease,
  fields: { released_by: string; released_at: string },
) =>
  tx
    .updateTable('quarantine')
    .set({ status: 'released', ...fields, ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .returning(columns)
    .executeTakeFirst()

export const update = (tx: Tx, id: string, fields: { status?: QuarantineStatus }) =>
  tx
    .updateTable('quarantine')
    .set(fields)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/** One piece of a stored message; undefined after the last one. */
export const pieceOf = async (db: Db, id: string, piece: number): Promise<Buffer | undefined> => {
  const row = await db
    .selectFrom('quarantined_messages')
    .select('content')
    .where('quarantine_id', '=', id)
    .where('piece', '=', piece)
    .executeTakeFirst()
  return row && Buffer.from(row.content)
}

export interface NewQuarantined {
  id: string
  organization_id: string | null
  message_id: string | null
  queue_id: string | null
  sender: string
  /** Set for outgoing mail only. */
  login?: string | null
  recipient: string
  /** The proven author of a message that may have an invitation. */
  author?: string | null
  subject: string | null
  reason: QuarantineReason
  spam_score?: number | null
  virus_name?: string | null
  rule_id?: string | null
  headers: object
  expires_at: string
  created_at: string
}

export const insert = (tx: Tx, row: NewQuarantined) =>
  tx.insertInto('quarantine').values(row).execute()

export const insertPiece = (tx: Tx, quarantine_id: string, piece: number, content: Buffer) =>
  tx.insertInto('quarantined_messages').values({ quarantine_id, piece, content }).execute()

const isDue = (now: Date) => sql`status in ('quarantined', 'deleted')
  and expires_at <= ${now.toISOString()}::timestamptz`

/**
 * Expires undecided entries and deletes the stored messages, except those with an address under a legal
 * hold. The lock makes a hold that is placed at the same time come first, or wait.
 */
export async function expire(db: Db, now: Date): Promise<void> {
  const { rows: owners } = await sql<{ id: string | null }>`
    select distinct organization_id as id from quarantine where ${isDue(now)}`.execute(db)
  for (const { id } of owners) {
    await db.transaction().execute(async (tx) => {
      if (id !== null) await lockOrganization(tx, id)
      await sql`
        with expired as (
          update quarantine
          set status = case status when 'quarantined' then 'expired' else status end
          where organization_id is not distinct from ${id} and ${isDue(now)}
            and not exists (
              select from unnest(array[sender, recipient, author, login]) as address
              where is_held(organization_id, lower(address), ${now.toISOString()}::timestamptz))
          returning id
        )
        delete from quarantined_messages
        where quarantine_id in (select id from expired)`.execute(tx)
    })
  }
}
