import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'
import type { GrantType } from '../scopes.ts'

// All columns but secret_hash, which no route returns.
const columns = [
  'oauth_clients.id as client_id',
  'oauth_clients.organization_id',
  'oauth_clients.name',
  'oauth_clients.client_type',
  sql<string[]>`oauth_clients.redirect_uris`.as('redirect_uris'),
  sql<GrantType[]>`oauth_clients.grant_types`.as('grant_types'),
  sql<string[]>`oauth_clients.scopes`.as('scopes'),
  sql<string | null>`(select k.key_id from api_keys k where k.id = oauth_clients.api_key_id)`.as(
    'key_id',
  ),
  'oauth_clients.active',
  'oauth_clients.created_by',
  'oauth_clients.created_at',
  'oauth_clients.updated_at',
] as const

/** The rights of the key of a client; keys of the command line have permissions instead of scopes. */
const scopesOfKey = sql<string[] | null>`(
  select coalesce(k.scopes, array[case
    when k.permissions -> 'read_only' = 'true'::jsonb then 'read'
    when k.permissions -> 'admin_access' = 'true'::jsonb then 'admin'
    else 'write' end])
  from api_keys k where k.id = oauth_clients.api_key_id and k.active)`

export type ProviderClient = NonNullable<Awaited<ReturnType<typeof findForProvider>>>

/** An active client, with the scopes that its API key has now. */
export const findForProvider = (db: Db, id: string) =>
  db
    .selectFrom('oauth_clients')
    .leftJoin('organizations', 'organizations.id', 'oauth_clients.organization_id')
    .select([
      'oauth_clients.id',
      'oauth_clients.organization_id',
      'oauth_clients.name',
      'oauth_clients.client_type',
      'oauth_clients.secret_hash',
      sql<string[]>`oauth_clients.redirect_uris`.as('redirect_uris'),
      sql<GrantType[]>`oauth_clients.grant_types`.as('grant_types'),
      sql<string[]>`oauth_clients.scopes`.as('scopes'),
      scopesOfKey.as('key_scopes'),
    ])
    .where('oauth_clients.id', '=', id)
    .where('oauth_clients.active', '=', true)
    .where(sql<SqlBool>`organizations.active is not false`)
    .executeTakeFirst()

export async function list(db: Db, scope: Scope, page: Page) {
  const own = db.selectFrom('oauth_clients').where(inScope('oauth_clients', scope))
  const items = await own
    .select(columns)
    .orderBy('oauth_clients.created_at', 'desc')
    .orderBy('oauth_clients.id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await own.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('oauth_clients')
    .select(columns)
    .where('oauth_clients.id', '=', id)
    .where(inScope('oauth_clients', scope))
    .executeTakeFirst()

/** Locks the clients of an organization, so that the limit holds. */
export async function lockAndCount(tx: Tx, organizationId: string | null): Promise<number> {
  const name = `oauth clients ${organizationId ?? ''}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
  const { total } = await tx
    .selectFrom('oauth_clients')
    .select(sql<number>`count(*)`.as('total'))
    .where(sql<SqlBool>`organization_id is not distinct from ${organizationId}`)
    .executeTakeFirstOrThrow()
  return total
}

export const organizationExists = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()) !==
  undefined

interface ClientFields {
  name?: string
  redirect_uris?: string[]
  scopes?: string[]
  active?: boolean
  secret_hash?: string
}

interface NewRow extends Required<Omit<ClientFields, 'active' | 'secret_hash'>> {
  id: string
  organization_id: string | null
  client_type: 'confidential' | 'public'
  secret_hash: string | null
  grant_types: GrantType[]
  api_key_id: string | null
  created_by: string
}

export const insert = (tx: Tx, row: NewRow, now: Date) =>
  tx
    .insertInto('oauth_clients')
    .values({ ...row, created_at: now.toISOString(), updated_at: now.toISOString() })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const update = (tx: Tx, scope: Scope, id: string, fields: ClientFields, now: Date) =>
  tx
    .updateTable('oauth_clients')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('oauth_clients.id', '=', id)
    .where(inScope('oauth_clients', scope))
    .returning(columns)
    .executeTakeFirst()

export const remove = (tx: Tx, scope: Scope, id: string) =>
  tx
    .deleteFrom('oauth_clients')
    .where('oauth_clients.id', '=', id)
    .where(inScope('oauth_clients', scope))
    .returning('oauth_clients.id')
    .executeTakeFirst()

/** Mailboxes with an access token of the client. */
export const addressesOf = async (db: Db, clientId: string): Promise<string[]> =>
  (
    await db
      .selectFrom('oauth_items')
      .innerJoin('email_accounts', 'email_accounts.id', 'oauth_items.email_account_id')
      .select('email_accounts.email')
      .distinct()
      .where('oauth_items.client_id', '=', clientId)
      .where('oauth_items.kind', '=', 'AccessToken')
      .execute()
  ).map(({ email }) => email)

/** An active API key that the caller can see, by its public id or, for its own, by the internal one. */
export const findKey = (db: Db, scope: Scope, key: { id: string } | { keyId: string }, now: Date) =>
  db
    .selectFrom('api_keys')
    .select([
      'id',
      'organization_id',
      'scope',
      sql<string[]>`coalesce(scopes, array[case
        when permissions -> 'read_only' = 'true'::jsonb then 'read'
        when permissions -> 'admin_access' = 'true'::jsonb then 'admin'
        else 'write' end])`.as('scopes'),
    ])
    .where('active', '=', true)
    .where(sql<SqlBool>`(expires_at is null or expires_at > ${now.toISOString()}::timestamptz)`)
    .where('id' in key ? 'id' : 'key_id', '=', 'id' in key ? key.id : key.keyId)
    .where(
      scope === 'platform'
        ? sql<SqlBool>`true`
        : sql<SqlBool>`scope = 'organization' and organization_id = ${scope.organization}`,
    )
    .executeTakeFirst()
