import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'

export interface DeletedFilter {
  organization_id?: string
  q?: string
}

const matching = (db: Db, { organization_id, q }: DeletedFilter) => {
  let query = db.selectFrom('deleted_mailboxes')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (q) query = query.where(contains('email', q))
  return query
}

/** The mailbox whose mail is removed next comes first. */
export async function list(db: Db, filter: DeletedFilter, days: number, page: Page, now: Date) {
  const at = sql`${now.toISOString()}::timestamptz`
  const items = await matching(db, filter)
    .select([
      'id',
      'organization_id',
      'email',
      'deleted_at',
      sql<string>`greatest(deleted_at + make_interval(days => ${days}), due_at)`.as('purge_after'),
      sql<boolean>`${sql<SqlBool>`is_held(organization_id, email, ${at})`}`.as('held'),
      'attempts',
      'error_message',
    ])
    .orderBy('deleted_at')
    .orderBy('id')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await matching(db, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}
