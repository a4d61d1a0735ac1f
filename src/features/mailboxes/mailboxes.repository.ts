import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import type { Status } from './mailboxes.rules.ts'

// Everything but password_hash, which only the mail servers read.
export const columns = [
  'email_accounts.id',
  'email_accounts.domain_id',
  'email_accounts.organization_id',
  'email_accounts.email',
  'email_accounts.external_id',
  'email_accounts.name',
  'email_accounts.status',
  'email_accounts.storage_quota',
  'email_accounts.storage_used',
  'email_accounts.attachment_storage_used',
  'email_accounts.email_storage_used',
  'email_accounts.total_files',
  'email_accounts.total_attachments',
  'email_accounts.total_emails',
  'email_accounts.rate_limits',
  'email_accounts.storage_quotas',
  'email_accounts.rate_usage_data',
  'email_accounts.forward_enabled',
  'email_accounts.forward_destination',
  'email_accounts.vacation_enabled',
  'email_accounts.vacation_message',
  'email_accounts.last_login',
  'email_accounts.last_activity',
  'email_accounts.last_storage_calculation',
  'email_accounts.must_change_password',
  'email_accounts.password_change_reason',
  'email_accounts.password_changed_at',
  'email_accounts.quota_override',
  'email_accounts.quota_override_at',
  'email_accounts.quota_override_by',
  'email_accounts.created_at',
  'email_accounts.updated_at',
] as const

export type AccountRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface AccountFilter {
  q?: string
  domain_id?: string
  status?: Status
}

const matching = (db: Db, scope: Scope, { q, domain_id, status }: AccountFilter) => {
  let query = db.selectFrom('email_accounts').where(inScope('email_accounts', scope))
  if (domain_id !== undefined) query = query.where('email_accounts.domain_id', '=', domain_id)
  // Written out: a plan for any status could not use the index of those that are not active.
  if (status !== undefined) query = query.where('email_accounts.status', '=', sql.lit(status))
  if (q !== undefined && q !== '') {
    query = query.where(contains(['email_accounts.email', 'email_accounts.name'], q))
  }
  return query
}

export async function list(
  db: Db,
  scope: Scope,
  filter: AccountFilter,
  sort: Sort<'email' | 'created_at' | 'storage_used' | 'last_login'>,
  { perPage, offset }: Page,
) {
  // The page is found on the index alone; whole rows are read for it only.
  const page = matching(db, scope, filter)
    .select('email_accounts.id')
    .orderBy(`email_accounts.${sort.by}`, sort.direction)
    .orderBy('email_accounts.id', sort.direction)
    .limit(perPage)
    .offset(offset)
  const items = await db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .innerJoin('organizations', 'organizations.id', 'email_accounts.organization_id')
    .select([
      ...columns,
      'domains.domain as domain_name',
      'organizations.name as organization_name',
    ])
    .where('email_accounts.id', 'in', page)
    .orderBy(`email_accounts.${sort.by}`, sort.direction)
    .orderBy('email_accounts.id', sort.direction)
    .execute()
  return { items, total: await count(db, scope, filter) }
}

async function count(db: Db, scope: Scope, filter: AccountFilter): Promise<number> {
  const counted =
    filter.q || filter.status !== undefined
      ? matching(db, scope, filter).select(sql<number>`count(*)`.as('total'))
      : filter.domain_id !== undefined
        ? db
            .selectFrom('domains')
            .select(sql<number>`coalesce(sum(total_email_accounts), 0)::int`.as('total'))
            .where('id', '=', filter.domain_id)
            .where(inScope('domains', scope))
        : db
            .selectFrom('organizations')
            .select(sql<number>`coalesce(sum(email_account_count), 0)::int`.as('total'))
            .$if(scope !== 'platform', (query) =>
              query.where('id', '=', (scope as { organization: string }).organization),
            )
  return (await counted.executeTakeFirstOrThrow()).total
}

export const listOfDomain = (db: Db, domainId: string, limit: number) =>
  db
    .selectFrom('email_accounts')
    .select(columns)
    .where('domain_id', '=', domainId)
    .orderBy('email')
    .limit(limit)
    .execute()

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('email_accounts')
    .select(columns)
    .where('email_accounts.id', '=', id)
    .where(inScope('email_accounts', scope))
    .executeTakeFirst()

/** Holds the row until the transaction ends; taken after the domain's, never before. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('email_accounts')
    .select(columns)
    .where('email_accounts.id', '=', id)
    .where(inScope('email_accounts', scope))
    .forUpdate()
    .executeTakeFirst()

/** Whoever has this address, be it a mailbox or not. */
export const findOwner = (db: Db, address: string) =>
  db
    .selectFrom('addresses')
    .select(['kind', 'owner_id'])
    .where('address', '=', address)
    .executeTakeFirst()

export const isExternalIdTaken = async (db: Db, externalId: string): Promise<boolean> =>
  (await db
    .selectFrom('email_accounts')
    .select('id')
    .where('external_id', '=', externalId)
    .executeTakeFirst()) !== undefined

export interface AccountFields {
  name?: string | null
  status?: Status
  external_id?: string | null
  storage_quota?: number
  rate_limits?: object
  storage_quotas?: object
  forward_enabled?: boolean
  forward_destination?: string | null
  vacation_enabled?: boolean
  vacation_message?: string | null
  password_hash?: string
  must_change_password?: boolean
  password_change_reason?: string | null
  password_changed_at?: string
  quota_override?: boolean
  quota_override_at?: string | null
  quota_override_by?: string | null
}

interface NewAccount extends AccountFields {
  id: string
  organization_id: string
  domain_id: string
  email: string
  password_hash: string
}

export const insert = (tx: Tx, account: NewAccount) =>
  tx.insertInto('email_accounts').values(account).returning(columns).executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: AccountFields, now: Date) =>
  tx
    .updateTable('email_accounts')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('email_accounts.id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, scope: Scope, id: string) =>
  tx
    .deleteFrom('email_accounts')
    .where('email_accounts.id', '=', id)
    .where(inScope('email_accounts', scope))
    .returning(columns)
    .executeTakeFirst()
