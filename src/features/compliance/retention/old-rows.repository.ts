import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const BATCH_SIZE = 1000

export interface Expiring {
  organization_id: string
  before: Date
  /** Addresses under a legal hold. */
  held: string[]
}

const isOlder = (column: string, { organization_id, before }: Expiring) =>
  sql`organization_id = ${organization_id}
    and ${sql.ref(column)} < ${before.toISOString()}::timestamptz`

/** Old rows of a table, which one function counts and the other deletes in batches. */
const oldRows = (
  table: string,
  condition: (expiring: Expiring) => RawBuilder<unknown>,
  key: readonly string[] = ['id'],
) => ({
  async count(db: Db, expiring: Expiring): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where ${condition(expiring)}`.execute(db)
    return rows[0]?.count ?? 0
  },
  async expire(tx: Tx, expiring: Expiring): Promise<number> {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where (${sql.join(key.map(sql.ref))}) in (
        select ${sql.join(key.map(sql.ref))} from ${sql.table(table)} where ${condition(expiring)}
        limit ${BATCH_SIZE})`.execute(tx)
    return Number(numAffectedRows)
  },
})

export const logRows = oldRows(
  'mail_log',
  (expiring) => sql`${isOlder('timestamp', expiring)}
    and not (lower(sender) = any(${expiring.held}::text[])
      or lower(recipient) = any(${expiring.held}::text[])
      or coalesce(lower(original_recipient) = any(${expiring.held}::text[]), false))`,
  ['timestamp', 'id'],
)

export const quarantined = oldRows(
  'quarantine',
  (expiring) => sql`${isOlder('created_at', expiring)}
    and not (lower(sender) = any(${expiring.held}::text[])
      or lower(recipient) = any(${expiring.held}::text[]))`,
)

/** Expired and failed exports have no file any more. */
export const exports = oldRows(
  'data_exports',
  (expiring) => sql`${isOlder('created_at', expiring)} and status in ('expired', 'failed')
    and not user_email = any(${expiring.held}::text[])`,
)

/** A click names no mailbox, so only a hold on the whole organization keeps it. */
export const clicks = oldRows('url_clicks', (expiring) => isOlder('clicked_at', expiring))

export const dlpViolations = oldRows(
  'dlp_violations',
  (expiring) => sql`${isOlder('created_at', expiring)}
    and not (lower(sender) = any(${expiring.held}::text[])
      or coalesce(lower(recipient) = any(${expiring.held}::text[]), false))`,
)
