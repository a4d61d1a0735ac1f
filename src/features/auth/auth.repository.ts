import type { Db, Tx } from '../../database/database.ts'

/** Finds an active user of an active organization; an open invitation is no user yet. */
export const findActiveUser = (db: Db, email: string) =>
  db
    .selectFrom('dashboard_users')
    .innerJoin('organizations', 'organizations.id', 'dashboard_users.organization_id')
    .select([
      'dashboard_users.id',
      'dashboard_users.email',
      'dashboard_users.role',
      'dashboard_users.organization_id',
      'dashboard_users.password_hash',
      'organizations.name as organization_name',
      'organizations.require_two_factor',
    ])
    .where('dashboard_users.email', '=', email)
    .where('dashboard_users.is_active', '=', true)
    .where('dashboard_users.password_hash', 'is not', null)
    .where('organizations.active', '=', true)
    .$narrowType<{ password_hash: string }>()
    .executeTakeFirst()

export const setLastLogin = (db: Db, id: string, now: Date) =>
  db
    .updateTable('dashboard_users')
    .set({ last_login_at: now.toISOString() })
    .where('id', '=', id)
    .execute()

export const setPassword = (db: Db, id: string, passwordHash: string, now: Date) =>
  db
    .updateTable('dashboard_users')
    .set({ password_hash: passwordHash, updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute()

export const requiresTwoFactor = async (db: Db, organizationId: string): Promise<boolean> => {
  const row = await db
    .selectFrom('organizations')
    .select('require_two_factor')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row?.require_two_factor === true
}

export const setFullName = (tx: Tx, id: string, fullName: string) =>
  tx.updateTable('dashboard_users').set({ full_name: fullName }).where('id', '=', id).execute()
