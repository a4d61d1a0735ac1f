import type { Db } from '../../database/database.ts'
import { auditCommand } from '../../http/command-audit.ts'
import * as feedback from './feedback.repository.ts'

interface Decision {
  id: string
  processed: boolean
  reason: string
}

/** Marks a feedback report for the command line, with its audit row; undefined if it is unknown. */
export const markByCommand = (db: Db, { id, processed, reason }: Decision, now: Date) =>
  db.transaction().execute(async (tx) => {
    const report = await feedback.setProcessed(tx, id, processed, now)
    if (!report) return undefined
    await auditCommand(
      tx,
      {
        action: 'update_feedback_loop',
        target: { type: 'feedback_id', id },
        organizationId: report.organization_id,
        body: { processed, reason },
      },
      now,
    )
    return report
  })
