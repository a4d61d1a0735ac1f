import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'

/** Caller, method, path and key together name one operation. */
export interface Operation {
  caller: string
  method: string
  path: string
  key: string
}

const STALE = sql<SqlBool>`alive_at < now() - interval '60 seconds'`

const named = (operation: Operation) =>
  sql<SqlBool>`caller = ${operation.caller} and method = ${operation.method}
    and path = ${operation.path} and key = ${operation.key}`

/**
 * Takes the operation for this request, or answers undefined when another request has it. What
 * has expired, or was left running by a process that died, is free to take; what that process had
 * already committed is not.
 */
export const claim = (db: Db, operation: Operation, requestHash: string, claimId: string) =>
  db
    .insertInto('idempotency_keys')
    .values({
      ...operation,
      request_hash: requestHash,
      state: 'running',
      claim: claimId,
      expires_at: sql`now() + interval '24 hours'`,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['caller', 'method', 'path', 'key'])
        .doUpdateSet({
          request_hash: requestHash,
          state: 'running',
          claim: claimId,
          alive_at: sql`now()`,
          response: null,
          response_status: null,
          created_at: sql`now()`,
          expires_at: sql`now() + interval '24 hours'`,
        })
        .where(
          sql<SqlBool>`idempotency_keys.expires_at < now()
            or (idempotency_keys.state = 'running' and idempotency_keys.request_hash = ${requestHash}
              and idempotency_keys.alive_at < now() - interval '60 seconds')`,
        ),
    )
    .returning('claim')
    .executeTakeFirst()

export const find = (db: Db, operation: Operation) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'state', 'response_status', 'response', STALE.as('stale')])
    .where(named(operation))
    .executeTakeFirst()

/** In the transaction of the change: from here on the operation has happened. */
export const markCommitted = (db: Db, operation: Operation, claimId: string) =>
  db
    .updateTable('idempotency_keys')
    .set({ state: 'committed' })
    .where(named(operation))
    .where('claim', '=', claimId)
    .executeTakeFirst()

export const complete = (
  db: Db,
  operation: Operation,
  claimId: string,
  status: number,
  response: Buffer,
) =>
  db
    .updateTable('idempotency_keys')
    .set({ state: 'completed', response_status: status, response })
    .where(named(operation))
    .where('claim', '=', claimId)
    .execute()

/** Frees the key for another try, unless a change was already committed under it. */
export const release = (db: Db, operation: Operation, claimId: string) =>
  db
    .deleteFrom('idempotency_keys')
    .where(named(operation))
    .where('claim', '=', claimId)
    .where('state', '=', 'running')
    .execute()

export const keepAlive = (db: Db, claimIds: string[]) =>
  db
    .updateTable('idempotency_keys')
    .set({ alive_at: sql`now()` })
    .where(sql<SqlBool>`claim = any(${claimIds}::text[])`)
    .execute()

export const deleteExpired = async (db: Db): Promise<number> => {
  const { numDeletedRows } = await db
    .deleteFrom('idempotency_keys')
    .where(sql<SqlBool>`expires_at < now()`)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
