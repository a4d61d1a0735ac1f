import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { contains } from '../../database/search.ts'
import type { Slice } from '../../http/paging.ts'

const columns = [
  'id',
  'organization_id',
  'sender',
  'reason',
  'quarantine_id',
  'created_by',
  'created_at',
] as const

export interface BlockFilter {
  organization_id?: string
  q?: string
}

export async function list(db: Db, { organization_id, q }: BlockFilter, { limit, offset }: Slice) {
  let query = db.selectFrom('blocked_senders')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (q) query = query.where(contains('sender', q))
  const newestFirst = { by: 'created_at', direction: 'desc' } as const
  const page = { perPage: limit, offset }
  const { ids, total } = await pageAndTotal(db, query, 'blocked_senders', newestFirst, page)
  const rows = await db
    .selectFrom('blocked_senders')
    .select(columns)
    .where(withIds('blocked_senders', ids))
    .execute()
  return { rows: inOrder(ids, rows), total }
}

export const insert = (
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

/** Removes one block, or the block that a message caused, if there is one. */
export function remove(tx: Tx, which: { id: string } | { quarantine_id: string }) {
  const query = tx.deleteFrom('blocked_senders').returning(columns)
  return 'id' in which
    ? query.where('id', '=', which.id).execute()
    : query.where('quarantine_id', '=', which.quarantine_id).execute()
}
