import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { Touched } from './apply-changes.ts'
import type { Change } from './change-log.ts'

/**
 * Destroys messages that are in no mailbox. Runs when all mailboxes are in the index completely: a
 * message that was moved has then been found in its new mailbox.
 */
export async function destroyOrphans(
  tx: Tx,
  accountId: string,
  touched: Touched,
): Promise<Change[]> {
  const destroyed = await tx
    .deleteFrom('jmap_emails')
    .where('account_id', '=', accountId)
    .where('is_orphan', '=', true)
    .returning(['id', 'thread_id'])
    .execute()
  if (destroyed.length === 0) return []
  const changes: Change[] = destroyed.map(({ id }) => ({ kind: 'Email', id, action: 'destroyed' }))
  const threads = [...new Set(destroyed.map(({ thread_id }) => thread_id))]
  for (const thread of threads) touched.threads.add(thread)
  const { rows } = await sql<{ thread_id: string }>`
    select distinct thread_id from jmap_emails
    where account_id = ${accountId} and thread_id = any(${threads}::text[])`.execute(tx)
  const left = new Set(rows.map(({ thread_id }) => thread_id))
  const ended = threads.filter((thread) => !left.has(thread))
  await sql`
    delete from jmap_message_ids
    where account_id = ${accountId} and thread_id = any(${ended}::text[])`.execute(tx)
  for (const thread of threads) {
    const action = left.has(thread) ? 'updated' : 'destroyed'
    changes.push({ kind: 'Thread', id: thread, action })
  }
  return changes
}
