import { sql } from 'kysely'
import { bulkRows } from '../../../database/bulk.ts'
import type { Db, Tx } from '../../../database/database.ts'

export type FolderRow = NonNullable<Awaited<ReturnType<typeof findFolder>>>

export const findFolder = (db: Db, pairId: string, sourcePath: string) =>
  db
    .selectFrom('migration_folders')
    .selectAll()
    .where('pair_id', '=', pairId)
    .where('source_path', '=', sourcePath)
    .executeTakeFirst()

export const foldersOf = (db: Db, pairId: string) =>
  db
    .selectFrom('migration_folders')
    .leftJoin('migration_messages', 'folder_id', 'id')
    .select(['id', 'source_path', 'target_path', 'source_validity', 'settled'])
    .select(sql<number>`count(source_uid)`.as('messages'))
    .where('pair_id', '=', pairId)
    .groupBy('id')
    .execute()

interface NewFolder {
  pair_id: string
  source_path: string
  target_path: string
  source_validity: number
  target_validity: number
  target_floor: number
  job_id: string
  job_floor: number
}

/** Adds a folder, or resets it: its recorded copies are deleted. */
export const beginFolder = (db: Db, folder: NewFolder) =>
  db.transaction().execute(async (tx) => {
    await tx
      .deleteFrom('migration_folders')
      .where('pair_id', '=', folder.pair_id)
      .where('source_path', '=', folder.source_path)
      .execute()
    return tx
      .insertInto('migration_folders')
      .values(folder)
      .returningAll()
      .executeTakeFirstOrThrow()
  })

/** Assigns the folder to a job. Messages from `floor` on count as copied by this job. */
export const takeOver = (db: Db, id: number, jobId: string, floor: number) =>
  db
    .updateTable('migration_folders')
    .set({ job_id: jobId, job_floor: floor })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()

export const settle = (db: Db, id: number, floor: number, settled: string | null) =>
  db
    .updateTable('migration_folders')
    .set({ target_floor: floor, settled })
    .where('id', '=', id)
    .execute()

/** The recorded copies of messages whose source UIDs are in a range. */
export const copiesIn = (db: Db, folderId: number, from: number, to: number) =>
  db
    .selectFrom('migration_messages')
    .select(['source_uid', 'target_uid', 'flags'])
    .where('folder_id', '=', folderId)
    .where('source_uid', '>=', from)
    .where('source_uid', '<=', to)
    .execute()

/** UIDs at the target that are recorded as copies, from any source folder. */
export async function knownTargets(db: Db, pairId: string, targetPath: string, floor: number) {
  const rows = await db
    .selectFrom('migration_messages')
    .innerJoin('migration_folders', 'id', 'folder_id')
    .select('target_uid')
    .where('pair_id', '=', pairId)
    .where('target_path', '=', targetPath)
    .where('target_uid', '>=', floor)
    .execute()
  return new Set(rows.map(({ target_uid }) => target_uid as number))
}

/** Deletes the records of copies that are no longer at the target, so that they are copied again. */
export async function forgetMissing(db: Db, folderId: number, present: number[]): Promise<void> {
  await sql`
    delete from migration_messages where folder_id = ${folderId} and target_uid is not null
      and not (target_uid = any(${present}::bigint[]))`.execute(db)
}

export interface Copy {
  source_uid: number
  target_uid: number | null
  flags: string
}

const COLUMNS = { source_uid: 'bigint', target_uid: 'bigint', flags: 'text' } as const

/** Records copies that were made or were found at the target. */
export const remember = (tx: Tx, folderId: number, copies: readonly Copy[]) =>
  sql`
    insert into migration_messages (folder_id, source_uid, target_uid, flags)
    select ${folderId}::bigint, source_uid, target_uid, flags
    from ${bulkRows(COLUMNS, copies)} as copies
    on conflict (folder_id, source_uid)
    do update set target_uid = excluded.target_uid, flags = excluded.flags`.execute(tx)
