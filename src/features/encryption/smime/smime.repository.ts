import { type Insertable, sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../../database/paging.ts'
import type { Tables } from '../../../database/tables.ts'
import type { Page } from '../../../http/paging.ts'
import { rowsOf } from '../encryption.repository.ts'
import type { Whose } from '../whose.ts'

const columns = [
  'id',
  'organization_id',
  'account_id',
  'email',
  'fingerprint',
  'subject',
  'issuer',
  'serial',
  'key_type',
  'key_length',
  sql<boolean>`private_key is not null`.as('has_private'),
  'can_encrypt',
  'can_sign',
  'preferred',
  'not_before',
  'expires_at',
  'created_at',
  'updated_at',
] as const

export async function list(db: Db, whose: Whose, email: string | undefined, page: Page) {
  let query = db.selectFrom('smime_certificates').where(rowsOf(whose))
  if (email !== undefined) query = query.where('email', '=', email)
  const order = { by: 'created_at', direction: 'desc' } as const
  const { ids, total } = await pageAndTotal(db, query, 'smime_certificates', order, page)
  const rows = await db
    .selectFrom('smime_certificates')
    .select(columns)
    .where(withIds('smime_certificates', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

const named = (db: Db, whose: Whose, fingerprint: string, email: string | undefined) => {
  const query = db
    .selectFrom('smime_certificates')
    .where(rowsOf(whose))
    .where('fingerprint', '=', fingerprint)
    .orderBy('created_at')
    .orderBy('id')
  return email === undefined ? query : query.where('email', '=', email)
}

export const find = (db: Db, whose: Whose, fingerprint: string, email?: string) =>
  named(db, whose, fingerprint, email)
    .select([...columns, 'certificate', 'chain'])
    .executeTakeFirst()

export const findAll = (tx: Tx, whose: Whose, fingerprint: string, email?: string) =>
  named(tx, whose, fingerprint, email).select(columns).execute()

export const sealedPrivateKey = (db: Db, whose: Whose, fingerprint: string) =>
  named(db, whose, fingerprint, undefined)
    .select(['fingerprint', 'private_key'])
    .where('private_key', 'is not', null)
    .executeTakeFirst()

export const ofAddress = (db: Db, organizationId: string, email: string) =>
  db
    .selectFrom('smime_certificates')
    .select([...columns, 'certificate', 'chain', 'private_key'])
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .orderBy('preferred', 'desc')
    .orderBy('created_at', 'desc')
    .execute()

export const insert = (tx: Tx, row: Insertable<Tables['smime_certificates']>) =>
  tx
    .insertInto('smime_certificates')
    .values(row)
    .returning([...columns, 'certificate', 'chain'])
    .executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, row: Updateable<Tables['smime_certificates']>) =>
  tx
    .updateTable('smime_certificates')
    .set(row)
    .where('id', '=', id)
    .returning([...columns, 'certificate', 'chain'])
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('smime_certificates').where('id', '=', id).execute()

/** Makes one certificate of an address the preferred one. */
export async function prefer(tx: Tx, organizationId: string, email: string, id: string) {
  const certificates = tx
    .updateTable('smime_certificates')
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
  await certificates.set({ preferred: false }).where('preferred', '=', true).execute()
  await certificates.set({ preferred: true }).where('id', '=', id).execute()
}
