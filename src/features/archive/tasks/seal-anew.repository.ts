import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { StorageType } from '../storage/object-storage.ts'
import type { Stored } from '../store/archive.repository.ts'

const isOld = (organizationId: string, recipients: readonly string[]) =>
  sql`organization_id = ${organizationId} and sealed_for <> ${[...recipients]}::text[]`

export async function countOld(
  db: Db,
  organizationId: string,
  recipients: readonly string[],
  after: string,
) {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from archived_messages
    where ${isOld(organizationId, recipients)} and id > ${after}`.execute(db)
  return rows[0]?.total ?? 0
}

export async function oldAfter(
  db: Db,
  organizationId: string,
  recipients: readonly string[],
  after: string,
  limit: number,
): Promise<Stored[]> {
  const { rows } = await sql<Stored>`
    select id, organization_id, content_hash, message_id, storage_type, storage_key, spool_id
    from archived_messages
    where ${isOld(organizationId, recipients)} and id > ${after}
    order by id limit ${limit}`.execute(db)
  return rows
}

/** Before the upload: an object that no row names in an hour, after a crash, is deleted. */
export const announce = (db: Db, type: StorageType, key: string, now: Date) =>
  sql`
  insert into archive_deletions (storage_type, storage_key, not_before)
  values (${type}, ${key}, ${now.toISOString()}::timestamptz + interval '1 hour')`.execute(db)

interface Moved {
  type: StorageType
  key: string
  texts: readonly string[]
  size: number
}

/** Names the new object and gives the old one up, at once. False when the row is gone or was moved. */
export async function move(db: Db, row: Stored, { type, key, texts, size }: Moved) {
  const { rows } = await sql`
    with moved as (
      update archived_messages set storage_type = ${type}, storage_key = ${key}, stored_size = ${size},
        sealed_for = ${[...texts]}::text[]
      where id = ${row.id} and storage_key = ${row.storage_key}
        and exists (select from archive_deletions where storage_key = ${key})
      returning id
    ), kept as (
      delete from archive_deletions
      where storage_key = ${key} and exists (select from moved)
    ), given_up as (
      insert into archive_deletions (storage_type, storage_key)
      select ${row.storage_type}, ${row.storage_key} from moved
    )
    select id from moved`.execute(db)
  return rows.length > 0
}
