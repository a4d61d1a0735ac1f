import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

interface Challenge {
  token: string
  key_authorization: string
  order_id: string
}

export const insert = (db: Db, challenge: Challenge, seconds: number) =>
  db
    .insertInto('acme_challenges')
    .values({ ...challenge, expires_at: sql`now() + make_interval(secs => ${seconds})` })
    .onConflict((conflict) =>
      conflict.column('token').doUpdateSet({
        key_authorization: challenge.key_authorization,
        order_id: challenge.order_id,
        expires_at: sql`excluded.expires_at`,
      }),
    )
    .execute()

export const find = (db: Db, token: string) =>
  db
    .selectFrom('acme_challenges')
    .select('key_authorization')
    .where('token', '=', token)
    .where(sql<SqlBool>`expires_at > now()`)
    .executeTakeFirst()

export const remove = (db: Db, token: string) =>
  db.deleteFrom('acme_challenges').where('token', '=', token).execute()

export const removeExpired = (db: Db) =>
  db.deleteFrom('acme_challenges').where(sql<SqlBool>`expires_at <= now()`).execute()
