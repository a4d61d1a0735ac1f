import type { Db } from '../../database/database.ts'

/** Somebody who may sign in: active, and so is the organization. */
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
    ])
    .where('dashboard_users.email', '=', email)
    .where('dashboard_users.is_active', '=', true)
    .where('organizations.active', '=', true)
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
