import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { addressRulesOf } from './address-rules.repository.ts'
import { type Identity, NOTHING, type Scope, type SessionKind } from './caller.ts'
import { contains } from './scopes.ts'

interface Permissions {
  read_only?: boolean
  admin_access?: boolean
}

/** An active key; `suspended` when its organization is. */
export async function findKey(
  db: Db,
  keyHash: string,
): Promise<Identity | 'suspended' | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .leftJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select([
      'api_keys.id',
      'api_keys.permissions',
      'api_keys.scopes',
      'api_keys.organization_id',
      'api_keys.scope',
      'api_keys.expires_at',
      'organizations.name as organization_name',
      'organizations.active as organization_active',
      addressRulesOf(sql.ref('api_keys.organization_id'), 'api').as('address_rules'),
    ])
    .where('api_keys.key_hash', '=', keyHash)
    .where('api_keys.active', '=', true)
    .executeTakeFirst()
  if (!row) return undefined
  if (row.organization_active === false) return 'suspended'
  const permissions = row.permissions as Permissions
  return {
    kind: 'key',
    id: row.id,
    scope: row.scope === 'platform' ? 'platform' : within(row.organization_id),
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    email: null,
    role: null,
    userRole: null,
    readOnly: permissions.read_only === true,
    adminAccess: permissions.admin_access === true,
    scopes: row.scopes,
    expiresAt: row.expires_at === null ? null : Date.parse(row.expires_at),
    session: null,
    addressRules: row.address_rules,
    mustChangePassword: false,
  }
}

interface TokenRow {
  key_hash: string
  scopes: string[]
  expires_at: string
}

/**
 * The key behind an access token of a client, with the scopes of the token. Rights that the key has lost
 * since are left out.
 */
export async function findToken(
  db: Db,
  tokenHash: string,
): Promise<Identity | 'suspended' | undefined> {
  const { rows } = await sql<TokenRow>`
    select k.key_hash, t.scopes, t.expires_at
    from oauth_items t
    join oauth_clients c on c.id = t.client_id and c.active
    join api_keys k on k.id = c.api_key_id
    where t.kind = 'ClientCredentials' and t.id_hash = ${tokenHash}`.execute(db)
  const [token] = rows
  if (!token) return undefined
  const identity = await findKey(db, token.key_hash)
  if (!identity || identity === 'suspended') return identity
  const rights = identity.scopes ?? [levelOf(identity)]
  const expiry = Date.parse(token.expires_at)
  return {
    ...identity,
    scopes:
      token.scopes.length === 0
        ? identity.scopes
        : token.scopes.filter((scope) => contains(rights, [scope])),
    expiresAt: Math.min(identity.expiresAt ?? expiry, expiry),
  }
}

const levelOf = ({ adminAccess, readOnly }: Identity) =>
  readOnly ? 'read' : adminAccess ? 'admin' : 'write'

/** A session that is not revoked and whose owner may sign in. The caller checks the expiry. */
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
      'u.role as user_role',
      'e.must_change_password',
      'g.id as organization_id',
      'g.name as organization_name',
      addressRulesOf(sql.ref('g.id'), kind === 'mailbox' ? 'mailbox' : 'api').as('address_rules'),
      eb.fn.coalesce('u.id', 'o.id', 'e.id').as('subject_id'),
      eb.fn.coalesce('u.email', 'o.email', 'e.email').as('email'),
    ])
    .where('s.kind', '=', kind)
    .where('s.token_hash', '=', tokenHash)
    .where('s.revoked_at', 'is', null)
    .where(
      sql<SqlBool>`coalesce(u.is_active, o.is_active, e.status = 'active')
        and g.active is not false and d.hosted is not false`,
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
    userRole: row.user_role,
    readOnly: row.user_role === 'read_only',
    adminAccess: kind === 'operator' || (kind === 'dashboard' && row.user_role !== 'read_only'),
    scopes: null,
    expiresAt: null,
    addressRules: row.address_rules,
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

/** Updates many keys at once: one write per second instead of one per request. */
export const touchKeys = (db: Db, ids: string[], times: Date[]) =>
  sql`
    update api_keys set last_used = greatest(api_keys.last_used, used.at)
    from unnest(${ids}::text[], ${times.map((time) => time.toISOString())}::timestamptz[]) as used (id, at)
    where api_keys.id = used.id`.execute(db)

/** Slides the expiry of sessions, and notes the activity of mailbox holders once a minute. */
export const slideSessions = (db: Db, ids: string[], expiries: Date[]) =>
  sql`
    with active as (
      select m.id from email_accounts m join sessions s on s.email_account_id = m.id
      where s.id = any(${ids}::text[])
        and (m.last_activity is null or m.last_activity < now() - interval '1 minute')
      for no key update of m skip locked),
    noted as (
      update email_accounts set last_activity = now()
      from active where email_accounts.id = active.id)
    update sessions set expires_at = greatest(sessions.expires_at, used.until)
    from unnest(${ids}::text[], ${expiries.map((time) => time.toISOString())}::timestamptz[]) as used (id, until)
    where sessions.id = used.id`.execute(db)
