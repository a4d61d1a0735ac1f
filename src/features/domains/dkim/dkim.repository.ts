import type { Db, Tx } from '../../../database/database.ts'

// Everything but private_key, which only the signer's export reads.
const columns = [
  'id',
  'domain_id',
  'selector',
  'algorithm',
  'key_size',
  'public_key',
  'active',
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

/** Undefined when the domain has a key of that selector. */
export const insert = (tx: Tx, key: NewKey) =>
  tx
    .insertInto('dkim_keys')
    .values(key)
    .onConflict((conflict) => conflict.columns(['domain_id', 'selector']).doNothing())
    .returning(columns)
    .executeTakeFirst()
