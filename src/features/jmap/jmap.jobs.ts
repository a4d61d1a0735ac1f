import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { Job } from '../../jobs/jobs.ts'
import { HOUR_SECONDS } from '../../lib/time.ts'
import { lockAccount } from './index/change-log.ts'

const CHANGE_DAYS = 30
const SUBMISSION_DAYS = 90
const UNUSED_DAYS = 30

/** Forgets what is only kept for a time. A program with an older state reads everything again. */
export const forgetJmap: Job = {
  name: 'jmap.forget',
  everySeconds: HOUR_SECONDS,
  async run({ db }) {
    await db.transaction().execute(async (tx) => {
      await sql`
        with gone as (
          delete from jmap_changes where changed_at < now() - make_interval(days => ${CHANGE_DAYS})
          returning account_id, state
        ), newest as (
          select account_id, max(state) as state from gone group by account_id
        )
        update jmap_accounts a set forgotten = greatest(a.forgotten, n.state)
        from newest n where a.id = n.account_id`.execute(tx)
    })
    await forgetUnused(db)
    await sql`
      delete from jmap_uploads where created_at < now() - interval '1 day'`.execute(db)
    await sql`delete from jmap_push_subscriptions where expires_at < now()`.execute(db)
    await sql`
      delete from jmap_submissions
      where send_at < now() - make_interval(days => ${SUBMISSION_DAYS})`.execute(db)
    await sql`
      delete from jmap_accounts a using shared_mailboxes s
      where s.id = a.shared_mailbox_id and s.status <> 'active'`.execute(db)
  },
}

/** The index of an account that no program has used; it is made anew when one does. */
async function forgetUnused(db: Db): Promise<void> {
  const unused = await db
    .selectFrom('jmap_accounts')
    .select('id')
    .where('used_at', '<', sql<string>`now() - make_interval(days => ${UNUSED_DAYS})`)
    .where(
      sql<boolean>`exists (select from jmap_mailboxes m where m.account_id = jmap_accounts.id)`,
    )
    .limit(100)
    .execute()
  for (const { id } of unused) {
    await db.transaction().execute(async (tx) => {
      await lockAccount(tx, id)
      await sql`update jmap_accounts set forgotten = state where id = ${id}`.execute(tx)
      for (const table of INDEX_TABLES) {
        await sql`delete from ${sql.table(table)} where account_id = ${id}`.execute(tx)
      }
    })
  }
}

const INDEX_TABLES = [
  ...['jmap_places', 'jmap_emails', 'jmap_mailboxes', 'jmap_message_ids', 'jmap_changes'],
  'jmap_thread_counts',
]
