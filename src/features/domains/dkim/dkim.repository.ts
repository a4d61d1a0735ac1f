import type { Db, Tx } from '../../../database/database.ts'

// All columns but private_key, which only publishedOf reads.
const columns = [
  'id',
  'domain_id',
  'selector',
  'algorithm',
  'key_size',
  'public_key',
  'active',
  'retired_at',
  'created_at',
  'updated_at',
] as const

export const listOf = (db: Db, domainId: string) =>
  db
    .selectFrom('dkim_keys')
    .select(columns)
    .where('domain_id', '=', domainId)
    .orderBy('active', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export const findActive = (db: Db, domainId: string) =>
  db
    .selectFrom('dkim_keys')
    .select(columns)
    .where('domain_id', '=', domainId)
    .where('active', '=', true)
    .executeTakeFirst()

export interface NewKey {
  id: string
  domain_id: string
  selector: string
  key_size: number
  public_key: string
  private_key: Buffer
  active: boolean
}

/** Returns undefined when the domain already has a key with that selector. */
export const insert = (tx: Tx, key: NewKey) =>
  tx
    .insertInto('dkim_keys')
    .values(key)
    .onConflict((conflict) => conflict.columns(['domain_id', 'selector']).doNothing())
    .returning(columns)
    .executeTakeFirst()

/** Deactivates every other selector; returns those that were active. */
export const retireOthers = (tx: Tx, domainId: string, selector: string, now: Date) =>
  tx
    .updateTable('dkim_keys')
    .set({ active: false, retired_at: now.toISOString(), updated_at: now.toISOString() })
    .where('domain_id', '=', domainId)
    .where('selector', '<>', selector)
    .where('active', '=', true)
    .returning('selector')
    .execute()

export const activate = (tx: Tx, domainId: string, selector: string, now: Date) =>
  tx
    .updateTable('dkim_keys')
    .set({ active: true, retired_at: null, updated_at: now.toISOString() })
    .where('domain_id', '=', domainId)
    .where('selector', '=', selector)
    .returning('id')
    .executeTakeFirst()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('dkim_keys').where('id', '=', id).execute()

export const deleteRetiredBefore = (db: Db, before: Date) =>
  db.deleteFrom('dkim_keys').where('retired_at', '<', before.toISOString()).execute()

/** Active and retired keys of a domain, by its name; none when DKIM is disabled or the domain is pending. */
export const publishedOf = (db: Db, domain: string) =>
  db
    .selectFrom('dkim_keys')
    .innerJoin('domains', 'domains.id', 'dkim_keys.domain_id')
    .select(['dkim_keys.selector', 'dkim_keys.private_key', 'dkim_keys.active'])
    .where('domains.domain', '=', domain)
    .where('domains.dkim_enabled', '=', true)
    .where('domains.ownership_verified_at', 'is not', null)
    .execute()

export const domainsWithKeys = async (db: Db): Promise<string[]> => {
  const rows = await db
    .selectFrom('dkim_keys')
    .innerJoin('domains', 'domains.id', 'dkim_keys.domain_id')
    .select('domains.domain')
    .distinct()
    .where('domains.dkim_enabled', '=', true)
    .where('domains.ownership_verified_at', 'is not', null)
    .execute()
  return rows.map(({ domain }) => domain)
}
