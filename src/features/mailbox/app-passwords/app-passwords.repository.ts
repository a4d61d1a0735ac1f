import { sql } from 'kysely'
import type { AppPasswordScope } from '../../../access/app-passwords.ts'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'

// All columns but password_hash, which no route returns.
const columns = [
  'id',
  'name',
  sql<AppPasswordScope[]>`scopes`.as('scopes'),
  'last_used_at',
  'last_used_service',
  'last_used_ip',
  'created_at',
] as const

export async function list(db: Db, accountId: string, page: Page) {
  const own = db.selectFrom('app_passwords').where('email_account_id', '=', accountId)
  const items = await own
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await own.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

/** Passwords of one mailbox are added one after the other, so that the limit holds. */
export async function lockAndCount(tx: Tx, accountId: string): Promise<number> {
  await tx
    .selectFrom('email_accounts')
    .select('id')
    .where('id', '=', accountId)
    .forUpdate()
    .execute()
  const { total } = await tx
    .selectFrom('app_passwords')
    .select(sql<number>`count(*)`.as('total'))
    .where('email_account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return total
}

interface NewRow {
  id: string
  organization_id: string
  email_account_id: string
  name: string
  scopes: AppPasswordScope[]
  password_hash: string
  created_at: string
}

export const insert = (tx: Tx, row: NewRow) =>
  tx.insertInto('app_passwords').values(row).returning(columns).executeTakeFirstOrThrow()

/** Undefined when the mailbox has no such password. */
export const remove = (tx: Tx, accountId: string, id: string) =>
  tx
    .deleteFrom('app_passwords')
    .where('id', '=', id)
    .where('email_account_id', '=', accountId)
    .returning(['id', 'name'])
    .executeTakeFirst()
