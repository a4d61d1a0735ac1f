import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'

export type KeyStatus = 'active' | 'expired' | 'revoked'

const statusAt = (now: Date) => sql<KeyStatus>`case
  when not api_keys.active then 'revoked'
  when api_keys.expires_at <= ${now.toISOString()}::timestamptz then 'expired'
  else 'active' end`

/** Keys of the command line have permissions instead of scopes. */
const scopes = sql<string[]>`coalesce(api_keys.scopes, array[case
  when api_keys.permissions -> 'read_only' = 'true'::jsonb then 'read'
  when api_keys.permissions -> 'admin_access' = 'true'::jsonb then 'admin'
  else 'write' end])`

const select = (db: Db, now: Date) =>
  db
    .selectFrom('api_keys')
    .leftJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select([
      'api_keys.id',
      'api_keys.key_id',
      'api_keys.name',
      'api_keys.organization_id',
      'organizations.name as organization_name',
      'api_keys.scope',
      scopes.as('scopes'),
      statusAt(now).as('status'),
      'api_keys.expires_at',
      'api_keys.last_used',
      'api_keys.created_by',
      'api_keys.created_at',
    ])

/** A platform key can name an organization, but it is no key of that tenant. */
const visibleTo = (scope: Scope) =>
  scope === 'platform'
    ? sql<SqlBool>`true`
    : sql<SqlBool>`${inScope('api_keys', scope)} and api_keys.scope = 'organization'`

export interface KeyFilter {
  q?: string
  status?: KeyStatus
}

export async function list(db: Db, scope: Scope, filter: KeyFilter, page: Page, now: Date) {
  const { q, status } = filter
  const matching = sql<SqlBool>`${visibleTo(scope)}
    and (${q ?? null}::text is null or ${contains(['api_keys.name', 'api_keys.key_id'], q ?? '')})
    and (${status ?? null}::text is null or ${statusAt(now)} = ${status ?? null})`
  const items = await select(db, now)
    .where(matching)
    .orderBy('api_keys.created_at', 'desc')
    .orderBy('api_keys.id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await db
    .selectFrom('api_keys')
    .select(sql<number>`count(*)`.as('total'))
    .where(matching)
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, keyId: string, now: Date) =>
  select(db, now).where('api_keys.key_id', '=', keyId).where(visibleTo(scope)).executeTakeFirst()

/** Locks the row, so that a key is rotated or revoked once. */
export const lock = async (tx: Tx, scope: Scope, keyId: string, now: Date) => {
  await tx.selectFrom('api_keys').select('id').where('key_id', '=', keyId).forUpdate().execute()
  return find(tx, scope, keyId, now)
}

/** Locks the organization, so that the limit holds for simultaneous requests. */
export const lockOrganization = (tx: Tx, id: string) =>
  tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()

export const countActive = async (tx: Tx, organizationId: string, now: Date): Promise<number> => {
  const { total } = await tx
    .selectFrom('api_keys')
    .select(sql<number>`count(*)`.as('total'))
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`${statusAt(now)} = 'active'`)
    .executeTakeFirstOrThrow()
  return total
}

export const revoke = (tx: Tx, id: string) =>
  tx.updateTable('api_keys').set({ active: false }).where('id', '=', id).execute()

/** An earlier expiry stays. */
export const expireAt = (tx: Tx, id: string, at: Date) =>
  tx
    .updateTable('api_keys')
    .set({ expires_at: sql`least(expires_at, ${at.toISOString()}::timestamptz)` })
    .where('id', '=', id)
    .execute()
