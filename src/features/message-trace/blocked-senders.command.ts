import type { Db } from '../../database/database.ts'
import { insertCommand } from '../../http/audit.repository.ts'
import { undoBlocks } from './undo-blocks.ts'

/** Undoes a block on the command line, with its audit row; undefined when there is none. */
export const unblockByCommand = (db: Db, blockId: string, reason: string) =>
  db.transaction().execute(async (tx) => {
    const now = new Date()
    const [removed] = await undoBlocks(tx, { id: blockId }, now)
    if (!removed) return undefined
    await insertCommand(
      tx,
      {
        action: 'unblock_quarantine_sender',
        target_type: 'block_id',
        target_id: blockId,
        organization_id: removed.organization_id,
        request_body: { reason },
      },
      now,
    )
    return removed
  })
