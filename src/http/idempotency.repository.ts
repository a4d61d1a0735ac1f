import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { heldBy, isFree, type Lease, leased, renewLease } from '../jobs/lease.ts'

/** Caller, method, path and key together name one operation. */
export interface Operation {
  caller: string
  method: string
  path: string
  key: string
}

const BATCH_SIZE = 5000

const named = (operation: Operation) =>
  sql<SqlBool>`caller = ${operation.caller} and method = ${operation.method}
    and path = ${operation.path} and key = ${operation.key}`

/**
 * Claims the operation for this request; undefined when another request has it. An expired operation
 * can be claimed, and one that a dead process left running, but not one that it had committed.
 */
export const claim = (db: Db, operation: Operation, requestHash: string, lease: Lease) =>
  db
    .insertInto('idempotency_keys')
    .values({
      ...operation,
      request_hash: requestHash,
      state: 'running',
      ...leased(lease),
      expires_at: sql`now() + interval '24 hours'`,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['caller', 'method', 'path', 'key'])
        .doUpdateSet({
          request_hash: requestHash,
          state: 'running',
          ...leased(lease),
          response: null,
          response_status: null,
          created_at: sql`now()`,
          expires_at: sql`now() + interval '24 hours'`,
        })
        .where(
          sql<SqlBool>`idempotency_keys.expires_at < now()
            or (idempotency_keys.state = 'running' and idempotency_keys.request_hash = ${requestHash}
              and idempotency_keys.lease_until <= now())`,
        ),
    )
    .returning('lease_owner')
    .executeTakeFirst()

export const find = (db: Db, operation: Operation) =>
  db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'state', 'response_status', 'response', isFree.as('stale')])
    .where(named(operation))
    .executeTakeFirst()

/** Runs in the transaction of the change and marks the operation as done. */
export const markCommitted = (db: Db, operation: Operation, lease: Lease) =>
  db
    .updateTable('idempotency_keys')
    .set({ state: 'committed' })
    .where(named(operation))
    .where(heldBy(lease))
    .executeTakeFirst()

export const complete = (
  db: Db,
  operation: Operation,
  lease: Lease,
  status: number,
  response: Buffer,
) =>
  db
    .updateTable('idempotency_keys')
    .set({ state: 'completed', response_status: status, response })
    .where(named(operation))
    .where(heldBy(lease))
    .execute()

/** Frees the key for another try, unless a change was already committed under it. */
export const release = (db: Db, operation: Operation, lease: Lease) =>
  db
    .deleteFrom('idempotency_keys')
    .where(named(operation))
    .where(heldBy(lease))
    .where('state', '=', 'running')
    .execute()

export const renew = (db: Db, operation: Operation, lease: Lease) =>
  renewLease(db, 'idempotency_keys', { ...operation }, lease)

/** In batches: one statement for a busy day would hold its locks for minutes. */
export async function deleteExpired(db: Db): Promise<number> {
  for (let total = 0; ; ) {
    const { numAffectedRows = 0n } = await sql`
      delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where expires_at < now()
        order by expires_at limit ${BATCH_SIZE} for update skip locked))`.execute(db)
    total += Number(numAffectedRows)
    if (Number(numAffectedRows) < BATCH_SIZE) return total
  }
}
