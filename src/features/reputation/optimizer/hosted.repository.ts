import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** The domains that are hosted here: mail to them does not leave the host. */
export async function hostedAmong(db: Db, names: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('domains')
    .select('domain')
    .where(sql<SqlBool>`domain = any(${names}::text[])`)
    .where('ownership_verified_at', 'is not', null)
    .execute()
  return new Set(rows.map(({ domain }) => domain))
}

/** Mail waits on hold in one queue, which the processes that release it must reach. */
export async function hasSeveralSenders(db: Db): Promise<boolean> {
  const hosts = await db
    .selectFrom('mail_hosts')
    .select('id')
    .where(sql<SqlBool>`roles && array['submission', 'outbound']`)
    .limit(2)
    .execute()
  return hosts.length > 1
}
