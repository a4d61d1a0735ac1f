import type { Scope } from '../../src/access/caller.ts'
import type { Db, Tx } from '../../src/database/database.ts'

const columns = [
  'id',
  'organization_id',
  'domain',
  'external_id',
  'description',
  'active',
  'verified_at',
  'max_quota',
  'max_users',
  'dkim_enabled',
  'dkim_selector',
  'created_at',
  'updated_at',
] as const

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('id', '=', id)
    .$if(scope !== 'platform', (query) =>
      query.where('organization_id', '=', (scope as { organization: string }).organization),
    )
    .executeTakeFirst()

/** Undefined when the name is taken. */
export const insert = (tx: Tx, domain: { id: string; organization_id: string; domain: string }) =>
  tx
    .insertInto('domains')
    .values(domain)
    .onConflict((conflict) => conflict.column('domain').doNothing())
    .returning(columns)
    .executeTakeFirst()
