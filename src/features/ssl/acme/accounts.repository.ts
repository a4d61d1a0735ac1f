import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'

/** Most used first, without the keys. */
export const list = (db: Db) =>
  db
    .selectFrom('acme_accounts')
    .select([
      'id',
      'email',
      'certs_issued',
      'success_count',
      'failure_count',
      sql<number | null>`round(success_count * 100.0 / nullif(certs_issued, 0), 1)::float8`.as(
        'success_rate',
      ),
      'last_used',
      'registered_at',
    ])
    .orderBy('certs_issued', 'desc')
    .orderBy('email')
    .orderBy('id')
    .execute()

export const emailsAt = async (db: Db, directoryUrl: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('acme_accounts')
    .select('email')
    .where('directory_url', '=', directoryUrl)
    .execute()
  return rows.map(({ email }) => email)
}

/** Adds an account. If another process added it first, its key is kept. */
export const insert = (db: Db, directoryUrl: string, email: string, sealedKey: Buffer) =>
  db
    .insertInto('acme_accounts')
    .values({ id: ulid(), directory_url: directoryUrl, email, account_key: sealedKey })
    .onConflict((conflict) => conflict.columns(['directory_url', 'email']).doNothing())
    .execute()

/** Picks the least recently used account. */
export const pick = (tx: Tx, directoryUrl: string, emails: string[]) =>
  tx
    .updateTable('acme_accounts')
    .set({ certs_issued: sql`certs_issued + 1`, last_used: sql`now()` })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('acme_accounts')
        .select('id')
        .where('directory_url', '=', directoryUrl)
        .where('email', 'in', emails)
        .orderBy(sql`last_used asc nulls first`)
        .orderBy('email')
        .limit(1)
        .forUpdate(),
    )
    .returning(['id', 'email', 'account_key'])
    .executeTakeFirstOrThrow()

export const setRegistered = (db: Db, id: string) =>
  db
    .updateTable('acme_accounts')
    .set({ registered_at: sql`now()` })
    .where('id', '=', id)
    .where('registered_at', 'is', null)
    .execute()

export const count = (tx: Tx, id: string, outcome: 'success_count' | 'failure_count') =>
  tx
    .updateTable('acme_accounts')
    .set({ [outcome]: sql`${sql.ref(outcome)} + 1` })
    .where('id', '=', id)
    .execute()
