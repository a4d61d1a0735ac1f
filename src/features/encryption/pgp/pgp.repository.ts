import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
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
  'user_id',
  'key_type',
  'key_length',
  sql<boolean>`private_key is not null`.as('has_private'),
  'can_encrypt',
  'preferred',
  'expires_at',
  'revoked',
  'created_at',
  'updated_at',
] as const

export async function list(db: Db, whose: Whose, email: string | undefined, page: Page) {
  let query = db.selectFrom('pgp_keys').where(rowsOf(whose))
  if (email !== undefined) query = query.where('email', '=', email)
  const order = { by: 'created_at', direction: 'desc' } as const
  const { ids, total } = await pageAndTotal(db, query, 'pgp_keys', order, page)
  const rows = await db
    .selectFrom('pgp_keys')
    .select(columns)
    .where(withIds('pgp_keys', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

const named = (db: Db, whose: Whose, fingerprint: string, email: string | undefined) => {
  const query = db
    .selectFrom('pgp_keys')
    .where(rowsOf(whose))
    .where('fingerprint', '=', fingerprint)
    .orderBy('created_at')
    .orderBy('id')
  return email === undefined ? query : query.where('email', '=', email)
}

export const find = (db: Db, whose: Whose, fingerprint: string, email?: string) =>
  named(db, whose, fingerprint, email)
    .select([...columns, 'public_key'])
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
    .selectFrom('pgp_keys')
    .select([...columns, 'public_key', 'private_key'])
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .orderBy('preferred', 'desc')
    .orderBy('created_at', 'desc')
    .execute()

export type KeyRow = Awaited<ReturnType<typeof ofAddress>>[number]

export const insert = (tx: Tx, row: Insertable<Tables['pgp_keys']>) =>
  tx
    .insertInto('pgp_keys')
    .values(row)
    .returning([...columns, 'public_key'])
    .executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, row: Updateable<Tables['pgp_keys']>) =>
  tx
    .updateTable('pgp_keys')
    .set(row)
    .where('id', '=', id)
    .returning([...columns, 'public_key'])
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('pgp_keys').where('id', '=', id).execute()

/** Makes one key of an address the preferred one. */
export async function prefer(tx: Tx, organizationId: string, email: string, id: string) {
  const keys = tx
    .updateTable('pgp_keys')
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
  await keys.set({ preferred: false }).where('preferred', '=', true).execute()
  await keys.set({ preferred: true }).where('id', '=', id).execute()
}

const job = ['id as job_id', 'email', 'status', 'fingerprint', 'error', 'created_at'] as const

type JobRow = Selectable<Tables['pgp_key_jobs']>

/** A job whose process gave no sign of life for a minute has failed. */
export const findJob = (db: Db, whose: Whose, id: string, lostBefore: Date) =>
  db
    .selectFrom('pgp_key_jobs')
    .select([
      ...job,
      sql<JobRow['status']>`case
        when status = 'running' and seen_at < ${lostBefore.toISOString()}::timestamptz
        then 'failed' else status end`.as('status'),
    ])
    .where('id', '=', id)
    .where(rowsOf(whose))
    .executeTakeFirst()

export const insertJob = (tx: Tx, row: Insertable<Tables['pgp_key_jobs']>) =>
  tx.insertInto('pgp_key_jobs').values(row).returning(job).executeTakeFirstOrThrow()

/** Only a running job is changed. */
export const updateJobs = (
  db: Db,
  ids: readonly string[],
  row: Updateable<Tables['pgp_key_jobs']>,
) =>
  db
    .updateTable('pgp_key_jobs')
    .set(row)
    .where('id', 'in', [...ids])
    .where('status', '=', 'running')
    .execute()

export const countJobs = async (db: Db, organizationId: string, since: Date): Promise<number> =>
  (
    await db
      .selectFrom('pgp_key_jobs')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('organization_id', '=', organizationId)
      .where('status', '=', 'running')
      .where('seen_at', '>=', since.toISOString())
      .executeTakeFirstOrThrow()
  ).count

export const deleteOldJobs = (db: Db, before: Date) =>
  db.deleteFrom('pgp_key_jobs').where('created_at', '<', before.toISOString()).execute()
