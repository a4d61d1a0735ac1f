import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'

/** Held to the end of the transaction: whoever edits next reads what this one has written. */
export const lockScripts = (tx: Tx, accountId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`mailbox scripts ${accountId}`}, 0))`.execute(
    tx,
  )

/** What the tenant sees of its own responder; null when it is off. */
export const noteVacation = (tx: Tx, accountId: string, message: string | null) =>
  tx
    .updateTable('email_accounts')
    .set({
      vacation_enabled: message !== null,
      vacation_message: message,
      updated_at: sql`now()`,
    })
    .where('id', '=', accountId)
    .execute()
