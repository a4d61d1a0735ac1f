import { sql } from 'kysely'
import { liveAt } from '../../../access/sessions.repository.ts'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

/** Live sessions of a mailbox, newest first. */
export async function listSessions(
  db: Db,
  accountId: string,
  current: string,
  page: Page,
  now: Date,
) {
  const live = db
    .selectFrom('sessions')
    .where('email_account_id', '=', accountId)
    .where(liveAt(now))
  const items = await live
    .select([
      'id',
      'ip_address',
      'user_agent',
      'client_platform',
      'created_at',
      'expires_at',
      'absolute_expiry',
      sql<boolean>`id = ${current}`.as('is_current'),
    ])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await live.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const sessionExists = async (
  tx: Tx,
  accountId: string,
  id: string,
  now: Date,
): Promise<boolean> => {
  const found = await tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', id)
    .where('email_account_id', '=', accountId)
    .where(liveAt(now))
    .executeTakeFirst()
  return found !== undefined
}
