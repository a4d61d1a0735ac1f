import { type SelectExpression, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, type Page, pageAndTotal, withIds } from '../../database/paging.ts'
import type { Tables } from '../../database/tables.ts'
import { rowsOf } from './encryption.repository.ts'
import type { Whose } from './whose.ts'

type KeyTable = 'pgp_keys' | 'smime_certificates'

type Column = SelectExpression<Tables, KeyTable>

/** The columns that keys and certificates have in common. */
const COMMON = [
  'id',
  'organization_id',
  'account_id',
  'email',
  'fingerprint',
  'key_type',
  sql<boolean>`private_key is not null`.as('has_private'),
  'can_encrypt',
  'preferred',
  'expires_at',
  'created_at',
  'updated_at',
] as const

/** The columns of a new row that keys and certificates have in common. */
export interface KeyRow {
  id: string
  organization_id: string
  email: string
  account_id: string | null
  /** Sealed; absent leaves a stored one as it is. */
  private_key?: Buffer
  created_at: string
  updated_at: string
}

export interface StoredKey {
  id: string
  organization_id: string
  account_id: string | null
  email: string
  fingerprint: string
  can_encrypt: boolean
  revoked?: boolean
  preferred: boolean
  expires_at: string | null
}

type Repository = ReturnType<typeof keyRepository>

/** A `Summary` is in lists; a `Full` has the contents too. */
export interface KeyRepository<Summary, Full>
  extends Pick<Repository, 'sealedPrivateKey' | 'remove' | 'prefer'> {
  list(
    db: Db,
    whose: Whose,
    email: string | undefined,
    page: Page,
  ): Promise<{ items: Summary[]; total: number }>
  find(db: Db, whose: Whose, fingerprint: string, email?: string): Promise<Full | undefined>
  findAll(tx: Tx, whose: Whose, fingerprint: string, email?: string): Promise<StoredKey[]>
  ofAddress(db: Db, organizationId: string, email: string): Promise<Full[]>
}

/** The queries of a table of keys. `facts` are its further columns, `contents` the long ones. */
export function keyRepository<const Fact extends Column, const Content extends Column>(
  table: KeyTable,
  facts: readonly Fact[],
  contents: readonly Content[],
) {
  const named = (db: Db, whose: Whose, fingerprint: string, email: string | undefined) => {
    const query = db
      .selectFrom(table)
      .select(COMMON)
      .where(rowsOf(whose))
      .where('fingerprint', '=', fingerprint)
      .orderBy('created_at')
      .orderBy('id')
    return email === undefined ? query : query.where('email', '=', email)
  }

  return {
    async list(db: Db, whose: Whose, email: string | undefined, page: Page) {
      let query = db.selectFrom(table).where(rowsOf(whose))
      if (email !== undefined) query = query.where('email', '=', email)
      const order = { by: 'created_at', direction: 'desc' } as const
      const { ids, total } = await pageAndTotal(db, query, table, order, page)
      const rows = await db
        .selectFrom(table)
        .select(COMMON)
        .select(facts)
        .where(withIds(table, ids))
        .execute()
      return { items: inOrder(ids, rows), total }
    },

    find: (db: Db, whose: Whose, fingerprint: string, email?: string) =>
      named(db, whose, fingerprint, email).select(facts).select(contents).executeTakeFirst(),

    findAll: (tx: Tx, whose: Whose, fingerprint: string, email?: string) =>
      named(tx, whose, fingerprint, email).execute(),

    sealedPrivateKey: (db: Db, whose: Whose, fingerprint: string) =>
      named(db, whose, fingerprint, undefined)
        .select('private_key')
        .where('private_key', 'is not', null)
        .executeTakeFirst(),

    /** The keys of an address, the preferred one first. */
    ofAddress: (db: Db, organizationId: string, email: string) =>
      db
        .selectFrom(table)
        .select(COMMON)
        .select(facts)
        .select(contents)
        .select('private_key')
        .where('organization_id', '=', organizationId)
        .where('email', '=', email)
        .orderBy('preferred', 'desc')
        .orderBy('created_at', 'desc')
        .execute(),

    remove: (tx: Tx, id: string) => tx.deleteFrom(table).where('id', '=', id).execute(),

    /** Makes one key of an address the preferred one. */
    async prefer(tx: Tx, organizationId: string, email: string, id: string) {
      const keys = tx
        .updateTable(table)
        .where('organization_id', '=', organizationId)
        .where('email', '=', email)
      await keys.set({ preferred: false }).where('preferred', '=', true).execute()
      await keys.set({ preferred: true }).where('id', '=', id).execute()
    },
  }
}
