import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

export const latest = (db: Db) =>
  db
    .selectFrom('archive_checks')
    .select(['id', 'begun_at', 'finished_at', 'checked', 'damaged'])
    .orderBy('begun_at', 'desc')
    .limit(1)
    .executeTakeFirst()

export async function lastFinished(db: Db) {
  const { rows } = await sql<{ finished_at: string; checked: number }>`
    select finished_at, checked from archive_checks
    where finished_at is not null order by begun_at desc limit 1`.execute(db)
  return rows[0]
}

export const begin = (db: Db, id: string, at: Date) =>
  db.insertInto('archive_checks').values({ id, begun_at: at.toISOString() }).execute()

export const add = (db: Db, id: string, damaged: number) =>
  db
    .updateTable('archive_checks')
    .set({ checked: sql`checked + 1`, damaged: sql`damaged + ${damaged}` })
    .where('id', '=', id)
    .execute()

export const finish = (db: Db, id: string, at: Date) =>
  db
    .updateTable('archive_checks')
    .set({ finished_at: at.toISOString() })
    .where('id', '=', id)
    .execute()

export const removeBefore = (db: Db, before: Date) =>
  db.deleteFrom('archive_checks').where('begun_at', '<', before.toISOString()).execute()
