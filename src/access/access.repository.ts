import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { type Identity, NOTHING, type Scope, type SessionKind } from './caller.ts'

interface Permissions {
  read_only?: boolean
  admin_access?: boolean
}

/** An active key of an organization that is not suspended. */
export async function findKey(db: Db, keyHash: string): Promise<Identity | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .leftJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select([
      'api_keys.id',
      'api_keys.permissions',
      'api_keys.organization_id',
      'api_keys.scope',
      'api_keys.expires_at',
      'organizations.name as organization_name',
    ])
    .where('api_keys.key_hash', '=', keyHash)
    .where('api_keys.active', '=', true)
    .where(sql<SqlBool>`organizations.active is not false`)
    .executeTakeFirst()
  if (!row) return undefined
  const permissions = row.permissions as Permissions
  return {
    kind: 'key',
    id: row.id,
    scope: row.scope === 'platform' ? 'platform' : within(row.organization_id),
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    email: null,
    role: null,
    readOnly: permissions.read_only === true,
    adminAccess: permissions.admin_access === true,
    expiresAt: row.expires_at === null ? null : Date.parse(row.expires_at),
    session: null,
    mustChangePassword: false,
  }
}

/** A session that is not revoked, whose owner may still sign in. Expiry is judged by the caller. */
export async function findSession(
  db: Db,
  kind: SessionKind,
  tokenHash: string,
): Promise<Identity | undefined> {
  const row = await db
    .selectFrom('sessions as s')
    .leftJoin('dashboard_users as u', 'u.id', 's.user_id')
    .leftJoin('operators as o', 'o.id', 's.operator_id')
    .leftJoin('email_accounts as e', 'e.id', 's.email_account_id')
    .leftJoin('domains as d', 'd.id', 'e.domain_id')
    .leftJoin('organizations as g', (join) =>
      join.on('g.id', '=', sql`coalesce(u.organization_id, e.organization_id)`),
    )
    .select((eb) => [
      's.id as session_id',
      's.csrf_hash',
      's.ip_address',
      's.mfa_satisfied',
      's.idle_timeout_seconds',
      's.expires_at',
      's.absolute_expiry',
      'o.role as operator_role',
      'e.must_change_password',
      'g.id as organization_id',
      'g.name as organization_name',
      eb.fn.coalesce('u.id', 'o.id', 'e.id').as('subject_id'),
      eb.fn.coalesce('u.email', 'o.email', 'e.email').as('email'),
    ])
    .where('s.kind', '=', kind)
    .where('s.token_hash', '=', tokenHash)
    .where('s.revoked_at', 'is', null)
    .where(
      sql<SqlBool>`coalesce(u.is_active, o.is_active, e.status = 'active')
        and g.active is not false and d.active is not false`,
    )
    .executeTakeFirst()
  if (!row) return undefined
  return {
    kind: IDENTITY_KINDS[kind],
    id: row.subject_id as string,
    scope: kind === 'operator' ? 'platform' : within(row.organization_id),
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    email: row.email,
    role: row.operator_role,
    readOnly: false,
    adminAccess: kind === 'operator',
    expiresAt: null,
    mustChangePassword: row.must_change_password === true,
    session: {
      id: row.session_id,
      kind,
      csrfHash: row.csrf_hash,
      ip: row.ip_address,
      mfaSatisfied: row.mfa_satisfied,
      idleMs: row.idle_timeout_seconds * 1000,
      expiresAt: Date.parse(row.expires_at),
      absoluteExpiry: Date.parse(row.absolute_expiry),
    },
  }
}

const IDENTITY_KINDS = { dashboard: 'user', operator: 'operator', mailbox: 'mailbox' } as const

const within = (organizationId: string | null): Scope =>
  organizationId === null ? NOTHING : { organization: organizationId }

/** Many keys at once: one write a second, not one a request. */
export const touchKeys = (db: Db, ids: string[], times: Date[]) =>
  sql`
    update api_keys set last_used = greatest(api_keys.last_used, used.at)
    from unnest(${ids}::text[], ${times.map((time) => time.toISOString())}::timestamptz[]) as used (id, at)
    where api_keys.id = used.id`.execute(db)

export const slideSessions = (db: Db, ids: string[], expiries: Date[]) =>
  sql`
    update sessions set expires_at = greatest(sessions.expires_at, used.until)
    from unnest(${ids}::text[], ${expiries.map((time) => time.toISOString())}::timestamptz[]) as used (id, until)
    where sessions.id = used.id`.execute(db)
