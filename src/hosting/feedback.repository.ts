import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

interface NewFeedback {
  organization_id: string
  original_recipient: string
  complaint_recipient: string | null
  isp_name: string
  feedback_type: string
  email_id: string | null
  subject: string | null
  sender: string | null
  sender_domain: string | null
  digest: string | null
  processed: boolean
  suppression_added: boolean
}

/** Stores a feedback report about a message; undefined when the report is stored already. */
export const insertFeedback = (tx: Tx, row: NewFeedback, now: Date) =>
  tx
    .insertInto('feedback_loops')
    .values({
      ...row,
      id: ulid(),
      created_at: now.toISOString(),
      processed_at: row.processed ? now.toISOString() : null,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'digest']).doNothing())
    .returning('id')
    .executeTakeFirst()
