import type { Tx } from '../../database/database.ts'
import { lift } from '../../hosting/suppressions.repository.ts'
import * as blocks from './blocked-senders.repository.ts'

/** Removes blocks of senders, with the suppressions that came with them. */
export async function undoBlocks(
  tx: Tx,
  which: { id: string } | { quarantine_id: string },
  now: Date,
) {
  const removed = await blocks.remove(tx, which)
  for (const { sender, organization_id } of removed) {
    await lift(tx, sender, organization_id, now, 'MANUAL')
  }
  return removed
}
