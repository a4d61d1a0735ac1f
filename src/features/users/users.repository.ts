import { type SqlBool, sql } from 'kysely'
import type { Scope, UserRole } from '../../access/caller.ts'
import { liveAt } from '../../access/sessions.repository.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'

export type UserStatus = 'invited' | 'active' | 'disabled'

interface OpenLink {
  kind: 'invitation' | 'password_reset'
  expires_at: string
  expired: boolean
  mail_status: 'pending' | 'sent' | 'failed' | 'none'
  mail_error: string | null
}

const statusOf = sql<UserStatus>`case
  when not dashboard_users.is_active then 'disabled'
  when dashboard_users.password_hash is null then 'invited'
  else 'active' end`

const hasTwoFactor = sql<boolean>`exists (
  select from totp_enrollments t
  where t.kind = 'user' and t.subject_id = dashboard_users.id and t.confirmed_at is not null)`

const select = (db: Db, now: Date) =>
  db
    .selectFrom('dashboard_users')
    .innerJoin('organizations', 'organizations.id', 'dashboard_users.organization_id')
    .select((eb) => [
      'dashboard_users.id',
      'dashboard_users.organization_id',
      'organizations.name as organization_name',
      'dashboard_users.email',
      'dashboard_users.full_name',
      'dashboard_users.role',
      'dashboard_users.is_active',
      'dashboard_users.last_login_at',
      'dashboard_users.created_at',
      'dashboard_users.updated_at',
      statusOf.as('status'),
      hasTwoFactor.as('two_factor_enabled'),
      sql<OpenLink | null>`(
        select jsonb_build_object('kind', l.kind, 'mail_status', l.mail_status,
          'mail_error', l.mail_error, 'expired', l.expires_at <= ${now.toISOString()}::timestamptz,
          'expires_at', to_char(l.expires_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        from account_links l where l.user_id = dashboard_users.id)`.as('open_link'),
      eb
        .selectFrom('sessions')
        .select(sql<number>`count(*)`.as('count'))
        .whereRef('sessions.user_id', '=', 'dashboard_users.id')
        .where(liveAt(now))
        .$asScalar()
        .$notNull()
        .as('active_session_count'),
    ])

export interface UserFilter {
  q?: string
  role?: UserRole
  status?: UserStatus
}

const matching = (scope: Scope, { q, role, status }: UserFilter) =>
  sql<SqlBool>`
    ${inScope('dashboard_users', scope)}
    and (${q ?? null}::text is null
      or ${contains(['dashboard_users.email', 'dashboard_users.full_name'], q ?? '')})
    and (${role ?? null}::text is null or dashboard_users.role = ${role ?? null})
    and (${status ?? null}::text is null or ${statusOf} = ${status ?? null})`

export async function list(db: Db, scope: Scope, filter: UserFilter, page: Page, now: Date) {
  const items = await select(db, now)
    .where(matching(scope, filter))
    .orderBy('dashboard_users.email')
    .orderBy('dashboard_users.id')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await db
    .selectFrom('dashboard_users')
    .select(sql<number>`count(*)`.as('total'))
    .where(matching(scope, filter))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, id: string, now: Date) =>
  select(db, now)
    .where('dashboard_users.id', '=', id)
    .where(inScope('dashboard_users', scope))
    .executeTakeFirst()

/** Locks the row, so that its state cannot change before the commit. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('dashboard_users')
    .select([
      'id',
      'organization_id',
      'email',
      'role',
      'is_active',
      sql<boolean>`password_hash is not null`.as('has_joined'),
    ])
    .where('id', '=', id)
    .where(inScope('dashboard_users', scope))
    .forUpdate()
    .executeTakeFirst()

export type LockedUser = NonNullable<Awaited<ReturnType<typeof lock>>>

export const findOrganization = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('organizations')
    .select(['id', 'name', 'require_two_factor'])
    .where('id', '=', id)
    .$if(scope !== 'platform', (query) =>
      query.where('id', '=', scope === 'platform' ? id : scope.organization),
    )
    .executeTakeFirst()

/** Locks the organization, so that its owners and invitations are counted one change at a time. */
export const lockOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute()

interface NewUser {
  id: string
  organization_id: string
  email: string
  full_name: string | null
  role: UserRole
}

/** Returns undefined when the organization has a user with that address. */
export const insert = (tx: Tx, user: NewUser) =>
  tx
    .insertInto('dashboard_users')
    .values(user)
    .onConflict((conflict) => conflict.columns(['organization_id', 'email']).doNothing())
    .returning(['id', 'organization_id', 'email', 'role'])
    .executeTakeFirst()

export const countInvited = async (tx: Tx, organizationId: string): Promise<number> => {
  const { total } = await tx
    .selectFrom('dashboard_users')
    .select(sql<number>`count(*)`.as('total'))
    .where('organization_id', '=', organizationId)
    .where('password_hash', 'is', null)
    .executeTakeFirstOrThrow()
  return total
}

/** Owners other than this user who can sign in. */
export const otherOwners = (tx: Tx, organizationId: string, userId: string) =>
  tx
    .selectFrom('dashboard_users')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('is_active', '=', true)
    .where('password_hash', 'is not', null)
    .where('id', '<>', userId)
    .execute()

export const update = (
  tx: Tx,
  id: string,
  fields: { full_name?: string | null; role?: UserRole; is_active?: boolean },
  now: Date,
) =>
  tx
    .updateTable('dashboard_users')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(['id', 'organization_id', 'email', 'role', 'is_active'])
    .executeTakeFirstOrThrow()

export const remove = async (tx: Tx, id: string): Promise<void> => {
  await tx
    .deleteFrom('totp_enrollments')
    .where('kind', '=', 'user')
    .where('subject_id', '=', id)
    .execute()
  await tx.deleteFrom('dashboard_users').where('id', '=', id).execute()
}

/** Live sessions of a user, newest first. */
export async function listSessions(db: Db, userId: string, current: string, page: Page, now: Date) {
  const live = db.selectFrom('sessions').where('user_id', '=', userId).where(liveAt(now))
  const items = await live
    .select([
      'id',
      'ip_address',
      'user_agent',
      'created_at',
      'expires_at',
      'absolute_expiry',
      sql<boolean>`id = ${current}`.as('is_current'),
    ])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await live.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const findSession = (tx: Tx, userId: string, id: string, now: Date) =>
  tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where(liveAt(now))
    .executeTakeFirst()

export const setPolicy = (tx: Tx, organizationId: string, require: boolean, now: Date) =>
  tx
    .updateTable('organizations')
    .set({ require_two_factor: require, updated_at: now.toISOString() })
    .where('id', '=', organizationId)
    .execute()

/** Users who have joined and have no second factor. */
export const withoutTwoFactor = async (db: Db, organizationId: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('dashboard_users')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('password_hash', 'is not', null)
    .where(sql<SqlBool>`not ${hasTwoFactor}`)
    .execute()
  return rows.map(({ id }) => id)
}
