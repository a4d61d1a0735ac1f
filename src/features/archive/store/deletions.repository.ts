import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { StorageType } from '../storage/object-storage.ts'

export interface Deletion {
  id: number
  storage_type: 'spool' | StorageType
  storage_key: string
  spool_id: string | null
}

/** Objects of these storages to delete now; a file of a spool is deleted by a process that has it. */
export async function due(
  db: Db,
  types: readonly Deletion['storage_type'][],
  spoolId: string,
  now: Date,
  limit: number,
): Promise<Deletion[]> {
  const { rows } = await sql<Deletion>`
    select id, storage_type, storage_key, spool_id from archive_deletions
    where not_before <= ${now.toISOString()}::timestamptz
      and storage_type = any(${[...types]}::text[])
      and (spool_id is null or spool_id = ${spoolId})
    order by not_before, id limit ${limit}`.execute(db)
  return rows
}

/** The pause grows with the age of the row, from a minute to an hour. */
export const retryLater = (db: Db, id: number, now: Date) =>
  sql`
    update archive_deletions set not_before = ${now.toISOString()}::timestamptz
      + least(greatest(now() - created_at, interval '1 minute'), interval '1 hour')
    where id = ${id}`.execute(db)

export const remove = (db: Db, id: number) =>
  db.deleteFrom('archive_deletions').where('id', '=', id).execute()

/** For an object that was uploaded although its row was deleted meanwhile. */
export const insert = (db: Db, storage_type: StorageType, storage_key: string, now: Date) =>
  db
    .insertInto('archive_deletions')
    .values({ storage_type, storage_key, spool_id: null, not_before: now.toISOString() })
    .execute()
