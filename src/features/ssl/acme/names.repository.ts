import type { Db } from '../../../database/database.ts'

/** Which of these names are domains of somebody. */
export const hosted = async (db: Db, names: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('domains')
    .select('domain')
    .where('domain', 'in', names)
    .execute()
  return rows.map(({ domain }) => domain)
}
