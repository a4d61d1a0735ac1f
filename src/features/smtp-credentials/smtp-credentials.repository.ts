import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { prepared } from '../../database/prepared.ts'
import { inScope, inScopeOf, organizationOf } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import { pastMessages } from '../../hosting/past-days.ts'
import type { Slice } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'

// All columns but secret_hash, which no route returns.
const columns = [
  'smtp_credentials.id',
  'smtp_credentials.organization_id',
  'smtp_credentials.domain_id',
  'smtp_credentials.username',
  'smtp_credentials.name',
  'smtp_credentials.prefix',
  'smtp_credentials.created_by',
  sql<string[]>`smtp_credentials.allowed_ips`.as('allowed_ips'),
  'smtp_credentials.ip_allowlist_enabled',
  'smtp_credentials.expires_at',
  'smtp_credentials.hourly_limit',
  'smtp_credentials.daily_limit',
  'smtp_credentials.tracking_enabled',
  'smtp_credentials.last_used_at',
  'smtp_credentials.active',
  'smtp_credentials.created_at',
  'smtp_credentials.updated_at',
] as const

export type CredentialRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface CredentialFilter {
  domain_id?: string
  active?: boolean
  q?: string
}

const matching = (db: Db, scope: Scope, { domain_id, active, q }: CredentialFilter) => {
  let query = db.selectFrom('smtp_credentials').where(inScope('smtp_credentials', scope))
  if (domain_id !== undefined) query = query.where('smtp_credentials.domain_id', '=', domain_id)
  if (active !== undefined) query = query.where('smtp_credentials.active', '=', active)
  if (q) query = query.where(contains(['smtp_credentials.username', 'smtp_credentials.name'], q))
  return query
}

export async function list(
  db: Db,
  scope: Scope,
  filter: CredentialFilter,
  sort: Sort<'created_at' | 'username' | 'last_used_at'>,
  { limit, offset }: Slice,
) {
  const query = matching(db, scope, filter)
  const { ids, total } = await pageAndTotal(db, query, 'smtp_credentials', sort, {
    perPage: limit,
    offset,
  })
  return { credentials: inOrder(ids, await listed(db, { ids })), total }
}

const listed = prepared((db, { ids }: { ids: string[] }) =>
  db.selectFrom('smtp_credentials').select(columns).where(withIds('smtp_credentials', ids)),
)

const byId = prepared((db, { id, organization }: { id: string; organization: string | null }) =>
  db
    .selectFrom('smtp_credentials')
    .select(columns)
    .where('smtp_credentials.id', '=', id)
    .where(inScopeOf('smtp_credentials', organization)),
)
export const find = async (db: Db, scope: Scope, id: string) =>
  (await byId(db, { id, organization: organizationOf(scope) }))[0]

/** Locks the row until the transaction ends, so that the trail records what really changed. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('smtp_credentials')
    .select(columns)
    .where('smtp_credentials.id', '=', id)
    .where(inScope('smtp_credentials', scope))
    .forUpdate()
    .executeTakeFirst()

interface CredentialFields {
  name?: string | null
  prefix?: string | null
  secret_hash?: string
  allowed_ips?: string[]
  ip_allowlist_enabled?: boolean
  expires_at?: string | null
  hourly_limit?: number | null
  daily_limit?: number | null
  tracking_enabled?: boolean
  active?: boolean
}

interface NewRow extends CredentialFields {
  id: string
  organization_id: string
  domain_id: string
  username: string
  secret_hash: string
  created_by: string
}

export const insert = (tx: Tx, row: NewRow, now: Date) =>
  tx
    .insertInto('smtp_credentials')
    .values({ ...row, created_at: now.toISOString(), updated_at: now.toISOString() })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: CredentialFields, now: Date) =>
  tx
    .updateTable('smtp_credentials')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('smtp_credentials.id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('smtp_credentials').where('id', '=', id).execute()

/** Newest first. The rows carry their organization id and outlive credential and organization. */
export const events = (db: Db, scope: Scope, credentialId: string, limit: number) =>
  db
    .selectFrom('smtp_credential_events')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .where(inScope('smtp_credential_events', scope))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Counts messages by day (UTC) and last state. */
export async function countByDay(db: Db, credentialId: string, since: Date) {
  const { rows } = await sql<{ date: string; status: string; count: number }>`
    select day::text as date, status, sum(messages)::bigint as count from (
      select ("timestamp" at time zone 'UTC')::date as day, status, count(*) as messages
      from mail_log
      where credential_id = ${credentialId} and not superseded
        and "timestamp" >= ${since.toISOString()}::timestamptz
      group by 1, 2
      union all
      select day, status, messages
      from (${pastMessages('credential', credentialId, since)}) as past
    ) as counted
    group by day, status order by day, status`.execute(db)
  return rows
}
