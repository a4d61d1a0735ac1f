import type { Scope } from '../../src/access/caller.ts'
import type { Db, Tx } from '../../src/database/database.ts'
import { prepared } from '../../src/database/prepared.ts'

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

const findOwn = prepared((db, own: { id: string; organization: string }) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('id', '=', own.id)
    .where('organization_id', '=', own.organization),
)
const findAny = prepared((db, any: { id: string }) =>
  db.selectFrom('domains').select(columns).where('id', '=', any.id),
)

export async function find(db: Db, scope: Scope, id: string) {
  const [domain] =
    scope === 'platform'
      ? await findAny(db, { id })
      : await findOwn(db, { id, organization: scope.organization })
  return domain
}

/** Returns undefined when the domain name is taken. */
export const insert = (tx: Tx, domain: { id: string; organization_id: string; domain: string }) =>
  tx
    .insertInto('domains')
    .values(domain)
    .onConflict((conflict) => conflict.columns(['organization_id', 'domain']).doNothing())
    .returning(columns)
    .executeTakeFirst()
