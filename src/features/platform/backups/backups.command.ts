import type { Tx } from '../../../database/database.ts'
import { insertCommand } from '../../../http/audit.repository.ts'

interface Restore {
  part: 'organization' | 'mailbox'
  /** The id of the organization or the address of the mailbox. */
  target: string
  organizationId: string
  backupId: string
  replace: boolean
  reason: string
}

/** The audit row of a restore on the command line, in the transaction of the restore. */
export const recordRestore = (tx: Tx, restore: Restore): Promise<void> =>
  insertCommand(
    tx,
    {
      action: `restore_${restore.part}`,
      target_type: restore.part,
      target_id: restore.target,
      organization_id: restore.organizationId,
      request_body: {
        reason: restore.reason,
        backup_id: restore.backupId,
        replace: restore.replace,
      },
    },
    new Date(),
  )
