import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** The certificates that were obtained here and are in use. */
export const obtained = (db: Db) =>
  db
    .selectFrom('certificates')
    .select(['id', 'domain', 'sealed_content'])
    .where('auto_renew', '=', true)
    .where('fingerprint', 'is not', null)
    .orderBy('id')
    .execute()

/** Stores the content of a file, unless the certificate has changed or its content is known. */
export const adopt = (
  db: Db,
  id: string,
  fingerprint: string,
  { content, nextKey }: { content: Buffer; nextKey: Buffer | null },
) =>
  db
    .updateTable('certificates')
    .set({
      sealed_content: content,
      // A key without its hash is not the one that TLSA records were advised for.
      sealed_next_key: sql`case when next_key_hash is null then null else ${nextKey}::bytea end`,
    })
    .where('id', '=', id)
    .where('fingerprint', '=', fingerprint)
    .where(sql<SqlBool>`sealed_content is null`)
    .execute()
