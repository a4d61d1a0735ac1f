import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import { rowsOf } from '../encryption.repository.ts'
import { keyRepository } from '../key-store.repository.ts'
import type { Whose } from '../whose.ts'

export const keys = keyRepository('pgp_keys', ['user_id', 'key_length', 'revoked'], ['public_key'])

/** A key that the address has already is brought up to date. */
export const saveKey = (tx: Tx, { id, created_at, ...row }: Insertable<Tables['pgp_keys']>) =>
  tx
    .insertInto('pgp_keys')
    .values({ ...row, id, created_at })
    .onConflict((same) => same.constraint('pgp_keys_once').doUpdateSet(row))
    .execute()

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
