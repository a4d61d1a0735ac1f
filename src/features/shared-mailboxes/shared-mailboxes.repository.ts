import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { inScope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Permission } from './shared-mailboxes.schemas.ts'

const columns = [
  'shared_mailboxes.id',
  'shared_mailboxes.email',
  'shared_mailboxes.name',
  'shared_mailboxes.organization_id',
  sql.lit('shared').$castTo<'shared'>().as('mailbox_type'),
  'shared_mailboxes.status',
  'shared_mailboxes.auto_reply_enabled',
  'shared_mailboxes.auto_reply_message',
  'shared_mailboxes.created_at',
  'shared_mailboxes.updated_at',
] as const

export type SharedMailboxRow = NonNullable<Awaited<ReturnType<typeof find>>>

export async function list(
  db: Db,
  scope: Scope,
  { status, q }: { status: 'active' | 'inactive'; q?: string },
  page: Page | undefined,
) {
  let query = db
    .selectFrom('shared_mailboxes')
    // A literal: the index of active shared mailboxes is partial.
    .where('shared_mailboxes.status', '=', sql.lit(status))
    .where(inScope('shared_mailboxes', scope))
  if (q) query = query.where(contains(['shared_mailboxes.email', 'shared_mailboxes.name'], q))
  const all = { perPage: Number.MAX_SAFE_INTEGER, offset: 0 }
  const { ids, total } = await pageAndTotal(
    db,
    query,
    'shared_mailboxes',
    { by: 'email', direction: 'asc' },
    page ?? all,
  )
  const rows = await db
    .selectFrom('shared_mailboxes')
    .select([
      'shared_mailboxes.id',
      'shared_mailboxes.email',
      'shared_mailboxes.name',
      'shared_mailboxes.organization_id',
      'shared_mailboxes.status',
      'shared_mailboxes.created_at',
      sql<number>`(select count(*) from shared_mailbox_members
        where shared_mailbox_id = shared_mailboxes.id)`.as('member_count'),
    ])
    .where(withIds('shared_mailboxes', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

const active = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('shared_mailboxes')
    .select(columns)
    .where('shared_mailboxes.id', '=', id)
    .where('shared_mailboxes.status', '=', 'active')
    .where(inScope('shared_mailboxes', scope))

/** Deleted shared mailboxes are not found. */
export const find = (db: Db, scope: Scope, id: string) => active(db, scope, id).executeTakeFirst()

/** Serializes member changes with each other and with the deletion of the mailbox. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  active(tx, scope, id).forUpdate().executeTakeFirst()

export const insert = (
  tx: Tx,
  fields: {
    id: string
    organization_id: string
    domain_id: string
    email: string
    name: string
    auto_reply_enabled: boolean
    auto_reply_message: string | null
  },
) => tx.insertInto('shared_mailboxes').values(fields).returning(columns).executeTakeFirstOrThrow()

export interface SharedMailboxFields {
  name?: string
  auto_reply_enabled?: boolean
  auto_reply_message?: string | null
}

export const update = (tx: Tx, id: string, fields: SharedMailboxFields, now: Date) =>
  tx
    .updateTable('shared_mailboxes')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const deactivate = (tx: Tx, id: string, now: Date) =>
  tx
    .updateTable('shared_mailboxes')
    .set({ status: 'inactive', updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute()

export const removeMembers = (tx: Tx, id: string) =>
  tx.deleteFrom('shared_mailbox_members').where('shared_mailbox_id', '=', id).execute()

/** The id or the e-mail address of an account. */
export interface Name {
  id: string
  email: string
}

const named = ({ id, email }: Name) =>
  sql<SqlBool>`(email_accounts.id = ${id} or email_accounts.email = ${email})`

/** Prevents the deletion of the account until it is a member. */
export const holdActiveAccount = (tx: Tx, organizationId: string, name: Name) =>
  tx
    .selectFrom('email_accounts')
    .select(['id', 'email'])
    .where(named(name))
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .forKeyShare()
    .executeTakeFirst()

export const listMembers = (db: Db, mailboxId: string) =>
  db
    .selectFrom('shared_mailbox_members')
    .innerJoin('email_accounts', 'email_accounts.id', 'shared_mailbox_members.email_account_id')
    .select([
      'shared_mailbox_members.email_account_id',
      'email_accounts.email as member_email',
      'email_accounts.name as member_name',
      'shared_mailbox_members.permission',
    ])
    .where('shared_mailbox_id', '=', mailboxId)
    .orderBy('email_accounts.email')
    .execute()

export const findMember = (tx: Tx, mailboxId: string, name: Name) =>
  tx
    .selectFrom('shared_mailbox_members')
    .innerJoin('email_accounts', 'email_accounts.id', 'shared_mailbox_members.email_account_id')
    .select([
      'shared_mailbox_members.id as member_id',
      'shared_mailbox_members.email_account_id',
      'email_accounts.email',
      'shared_mailbox_members.permission',
    ])
    .where('shared_mailbox_id', '=', mailboxId)
    .where(named(name))
    .executeTakeFirst()

export const insertMember = (
  tx: Tx,
  fields: {
    id: string
    shared_mailbox_id: string
    email_account_id: string
    permission: Permission
    granted_by: string
  },
) => tx.insertInto('shared_mailbox_members').values(fields).execute()

export const updateMember = (
  tx: Tx,
  id: string,
  fields: {
    permission: Permission
    granted_by: string
  },
  now: Date,
) =>
  tx
    .updateTable('shared_mailbox_members')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute()

export const removeMember = (tx: Tx, id: string) =>
  tx.deleteFrom('shared_mailbox_members').where('id', '=', id).execute()
