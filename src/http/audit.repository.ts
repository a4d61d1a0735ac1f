import type { Insertable } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'

export type AuditEntry = Insertable<Tables['operator_audit']>

export const insertEntries = async (db: Db, entries: AuditEntry[]): Promise<void> => {
  await db.insertInto('operator_audit').values(entries).execute()
}
