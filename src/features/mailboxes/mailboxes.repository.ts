import { type RawBuilder, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import {
  inOrder,
  nameOf,
  pageAndTotal,
  searchPageAndTotal,
  withIds,
} from '../../database/paging.ts'
import { prepared } from '../../database/prepared.ts'
import { inScope, inScopeOf, organizationOf } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import type { Status } from './mailboxes.rules.ts'

// All columns but password_hash, which only the mail servers read.
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
  // A literal: the index of inactive and suspended mailboxes is partial.
  if (status !== undefined) query = query.where('email_accounts.status', '=', sql.lit(status))
  if (q !== undefined && q !== '') {
    query = query.where(contains('email_accounts.search_text', q))
  }
  return query
}

export async function list(
  db: Db,
  scope: Scope,
  filter: AccountFilter,
  sort: Sort<'email' | 'created_at' | 'storage_used' | 'last_login'>,
  page: Page,
) {
  const query = matching(db, scope, filter)
  const { ids, total } = filter.q
    ? await searchPageAndTotal(db, query, 'email_accounts', sort, page)
    : await pageAndTotal(db, query, 'email_accounts', sort, page, count(db, scope, filter))
  return { items: inOrder(ids, await listed(db, { ids })), total }
}

const listed = prepared((db, { ids }: { ids: string[] }) =>
  db
    .selectFrom('email_accounts')
    .select([
      ...columns,
      sql<string>`split_part(email_accounts.email, '@', -1)`.as('domain_name'),
      nameOf('organizations', 'email_accounts.organization_id').as('organization_name'),
    ])
    .where(withIds('email_accounts', ids)),
)

/** Reads the counters of organizations and domains, which triggers maintain. */
const count = (db: Db, scope: Scope, { domain_id, status }: AccountFilter) =>
  domain_id === undefined
    ? db
        .selectFrom('organizations')
        .select(sumOf(counterFor('email_account_count', status)))
        .$if(scope !== 'platform', (query) =>
          query.where('id', '=', (scope as { organization: string }).organization),
        )
    : db
        .selectFrom('domains')
        .select(sumOf(counterFor('total_email_accounts', status)))
        .where('id', '=', domain_id)
        .where(inScope('domains', scope))

const sumOf = (count: RawBuilder<unknown>) =>
  sql<number>`coalesce(sum(${count}), 0)::int`.as('total')

function counterFor(all: string, status: Status | undefined) {
  if (status === undefined) return sql.ref(all)
  if (status !== 'active') return sql.ref(`${status}_email_accounts`)
  return sql`${sql.ref(all)} - inactive_email_accounts - suspended_email_accounts`
}

const ofDomain = prepared((db, { domainId, limit }: { domainId: string; limit: number }) =>
  db
    .selectFrom('email_accounts')
    .select(columns)
    .where('domain_id', '=', domainId)
    .orderBy('email')
    .limit(limit),
)
export const listOfDomain = (db: Db, domainId: string, limit: number) =>
  ofDomain(db, { domainId, limit })

const byId = prepared((db, { id, organization }: { id: string; organization: string | null }) =>
  db
    .selectFrom('email_accounts')
    .select(columns)
    .where('email_accounts.id', '=', id)
    .where(inScopeOf('email_accounts', organization)),
)
export const find = async (db: Db, scope: Scope, id: string) =>
  (await byId(db, { id, organization: organizationOf(scope) }))[0]

/** Locks the row. To avoid deadlocks, lock the domain before its mailboxes. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('email_accounts')
    .select(columns)
    .where('email_accounts.id', '=', id)
    .where(inScope('email_accounts', scope))
    .forUpdate()
    .executeTakeFirst()

const ownerOf = prepared((db, { address, claim }: { address: string; claim: string }) =>
  db
    .selectFrom('addresses')
    .select(['kind', 'owner_id'])
    .where('address', '=', address)
    .where('claim_id', '=', claim),
)
/**
 * The owner of the e-mail address: a mailbox, shared mailbox, alias or SMTP credential. A pending
 * domain has a register of its own.
 */
export const findOwner = async (
  db: Db,
  domain: { id: string; ownership_verified_at: string | null },
  address: string,
) =>
  (await ownerOf(db, { address, claim: domain.ownership_verified_at === null ? domain.id : '' }))[0]

export const isExternalIdTaken = async (
  db: Db,
  organizationId: string,
  externalId: string,
): Promise<boolean> =>
  (await db
    .selectFrom('email_accounts')
    .select('id')
    .where('organization_id', '=', organizationId)
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
