import type { Caller } from '../access/caller.ts'
import type { Tx } from '../database/database.ts'

interface TrailEntry {
  action: string
  organization_id?: string | null
  user_email?: string | null
  details?: Record<string, unknown>
}

/** Call it in the transaction of the recorded change. Without a caller the row says `system`. */
export const record = (tx: Tx, caller: Caller | undefined, row: TrailEntry, now: Date) =>
  tx
    .insertInto('compliance_audit')
    .values({
      ...row,
      performed_by: caller ? (caller.email ?? caller.id) : 'system',
      ip_address: caller?.ip ?? null,
      created_at: now.toISOString(),
    })
    .execute()
