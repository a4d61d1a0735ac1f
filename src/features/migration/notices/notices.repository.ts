import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export const insert = (tx: Tx, id: string, jobId: string, envelope: object) =>
  tx.insertInto('migration_notices').values({ id, job_id: jobId, envelope }).execute()

/**
 * The oldest notice of each job, when it is due; the ones after it wait, so that the end of a job is
 * not told before its beginning. Taken for a while: if we die, another daemon sends it.
 */
export const take = (db: Db, limit: number, seconds: number) =>
  db
    .updateTable('migration_notices')
    .set({ due_at: sql`now() + make_interval(secs => ${seconds})`, attempts: sql`attempts + 1` })
    .where('id', 'in', (from) =>
      from
        .selectFrom('migration_notices as one')
        .select('one.id')
        .where('one.due_at', '<=', sql<string>`now()`)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('migration_notices as earlier')
                .select('earlier.id')
                .whereRef('earlier.job_id', '=', 'one.job_id')
                .whereRef('earlier.id', '<', 'one.id'),
            ),
          ),
        )
        .orderBy('one.due_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning((eb) => [
      'id',
      'envelope',
      'attempts',
      eb
        .selectFrom('migration_jobs')
        .whereRef('migration_jobs.id', '=', 'migration_notices.job_id')
        .select('webhook_url')
        .as('url'),
    ])
    .execute()

export const remove = (db: Db, id: string) =>
  db.deleteFrom('migration_notices').where('id', '=', id).execute()

export const postpone = (db: Db, id: string, seconds: number) =>
  db
    .updateTable('migration_notices')
    .set({ due_at: sql`now() + make_interval(secs => ${seconds})` })
    .where('id', '=', id)
    .execute()
