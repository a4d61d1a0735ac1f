import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

export interface ExportPart {
  file_name: string
  number: number
  export_id: string
  content: Buffer
}

export const insertPart = (db: Db, part: ExportPart) =>
  db.insertInto('data_export_parts').values(part).execute()

/** A part of an archive; undefined after the last one. */
export async function partOf(db: Db, fileName: string, number: number) {
  const row = await db
    .selectFrom('data_export_parts')
    .select('content')
    .where('file_name', '=', fileName)
    .where('number', '=', number)
    .executeTakeFirst()
  return row?.content
}

export const deleteParts = (db: Db, fileNames: readonly string[]) =>
  sql`delete from data_export_parts where file_name = any(${fileNames}::text[])`.execute(db)

/** Deletes the parts that a killed process left: those of an attempt that no export refers to. */
export const deleteAbandonedParts = (db: Db, before: Date) =>
  sql`
    delete from data_export_parts
    where created_at < ${before.toISOString()}::timestamptz
      and not exists (select from data_exports
        where data_exports.id = export_id and data_exports.file_name = data_export_parts.file_name)`.execute(
    db,
  )
