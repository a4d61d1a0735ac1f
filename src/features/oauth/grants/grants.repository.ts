import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'

/** The grants that a tenant sees, or those of one mailbox. */
export type Whose = { scope: Scope } | { accountId: string }

export interface GrantFilter {
  email?: string
  client_id?: string
}

const grants = (db: Db, whose: Whose) =>
  db
    .selectFrom('oauth_items')
    .innerJoin('email_accounts', 'email_accounts.id', 'oauth_items.email_account_id')
    .innerJoin('oauth_clients', 'oauth_clients.id', 'oauth_items.client_id')
    .where('oauth_items.kind', '=', 'Grant')
    .where(
      'scope' in whose
        ? inScope('email_accounts', whose.scope)
        : sql<boolean>`oauth_items.email_account_id = ${whose.accountId}`,
    )

const columns = [
  'oauth_items.id as grant_id',
  'oauth_items.client_id',
  'oauth_clients.name as client_name',
  'email_accounts.email as user_email',
  sql<string[]>`oauth_items.scopes`.as('scopes'),
  'oauth_items.last_used_at',
  'oauth_items.last_used_service',
  'oauth_items.last_used_ip',
  'oauth_items.created_at',
] as const

export async function list(db: Db, whose: Whose, { email, client_id }: GrantFilter, page: Page) {
  let query = grants(db, whose)
  if (email !== undefined) query = query.where('email_accounts.email', '=', email.toLowerCase())
  if (client_id !== undefined) query = query.where('oauth_items.client_id', '=', client_id)
  const items = await query
    .select(columns)
    .orderBy('oauth_items.created_at', 'desc')
    .orderBy('oauth_items.id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, whose: Whose, id: string) =>
  grants(db, whose).select(columns).where('oauth_items.id', '=', id).executeTakeFirst()
