import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** Those of these domains that are hosted here: mail to them goes nowhere. */
export async function hostedAmong(db: Db, names: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('domains')
    .select('domain')
    .where(sql<SqlBool>`domain = any(${names}::text[])`)
    .execute()
  return new Set(rows.map(({ domain }) => domain))
}
