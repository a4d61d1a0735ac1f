import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const columns = [
  'id',
  'user_email',
  'consent_type',
  'granted',
  'ip_address',
  'user_agent',
  'granted_at',
  'revoked_at',
  'created_at',
  'updated_at',
] as const

export const list = (db: Db, email: string) =>
  db
    .selectFrom('consents')
    .select(columns)
    .where('user_email', '=', email)
    .orderBy('consent_type')
    .execute()

export interface NewConsent {
  id: string
  user_email: string
  consent_type: string
  granted: boolean
  ip_address: string | null
  user_agent: string | null
  at: string
}

/** Keeps one row per consent type, with the last time it was granted and the last time it was revoked. */
export const upsert = (tx: Tx, { at, ...row }: NewConsent) =>
  tx
    .insertInto('consents')
    .values({
      ...row,
      granted_at: row.granted ? at : null,
      revoked_at: row.granted ? null : at,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(['user_email', 'consent_type']).doUpdateSet({
        granted: row.granted,
        ip_address: row.ip_address,
        user_agent: row.user_agent,
        granted_at: row.granted ? at : sql`consents.granted_at`,
        revoked_at: row.granted ? sql`consents.revoked_at` : at,
        updated_at: at,
      }),
    )
    .returning(columns)
    .executeTakeFirstOrThrow()
