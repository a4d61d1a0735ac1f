import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const LOCK = 5_377_003

/** Serializes concurrent bootstraps, so that the second one finds the operator of the first. */
export const lockBootstrap = (tx: Tx) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)

export const anyOperator = (tx: Tx) =>
  tx.selectFrom('operators').select('id').limit(1).executeTakeFirst()

export const findActive = (db: Db, email: string) =>
  db
    .selectFrom('operators')
    .select(['id', 'email', 'role', 'password_hash'])
    .where('email', '=', email)
    .where('is_active', '=', true)
    .executeTakeFirst()

export const setPassword = (tx: Tx, id: string, password_hash: string, now: Date) =>
  tx
    .updateTable('operators')
    .set({ password_hash, updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute()

export const setLastLogin = (tx: Tx, id: string, now: Date) =>
  tx
    .updateTable('operators')
    .set({ last_login_at: now.toISOString() })
    .where('id', '=', id)
    .execute()
