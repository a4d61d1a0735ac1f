import { Kysely, type Transaction } from 'kysely'
import postgres, { type Options, type Sql } from 'postgres'
import { ask } from './ask.ts'
import { overPool } from './dialect.ts'
import { sessionPool } from './sessions.ts'
import type { Tables } from './tables.ts'
import { transactionPool } from './transactions.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** How to reach PostgreSQL: an address, or the options of an embedded server's socket. */
export type Target = string | { host: string; port: number; password: string }

export interface Database {
  db: Db
  /**
   * Its statements go by indexes whatever the tables hold, for tables that are empty now and long in a
   * minute: a plan that was kept from when they were empty would read all of them.
   */
  byIndex: Db
  sql: Sql
  close(): Promise<void>
}

/** What may not be chosen costs more than anything else; what cannot be done otherwise still is. */
export const BY_INDEX = `select set_config('plan_cache_mode', 'force_generic_plan', false), ${[
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_sort',
  'enable_hashjoin',
  'enable_mergejoin',
]
  .map((way) => `set_config('${way}', 'off', false)`)
  .join(', ')}`
// Two may read at once, what goes to the one address and what goes to endpoints, while one writes.
const BY_INDEX_CONNECTIONS = 3

export function openDatabase(target: Target, options: { pool: number; name: string }): Database {
  const connection = { application_name: `mailplane ${options.name}`, TimeZone: 'UTC' }
  const sql = connect(target, { max: Math.ceil(options.pool / 2), connection })
  // Without a lifetime: a connection must not be renewed in the middle of a transaction.
  const open = (onclose: () => void) =>
    connect(target, { max: 1, max_lifetime: null, connection, onclose })
  const transactions = transactionPool(open, Math.ceil(options.pool / 2))
  const sessions = sessionPool(open, BY_INDEX, BY_INDEX_CONNECTIONS)
  const db: Db = new Kysely(
    overPool((text, parameters) => ask(sql, text, parameters), transactions),
  )
  return {
    db,
    byIndex: new Kysely(overPool(sessions.query, transactions)),
    sql,
    async close() {
      await sessions.close()
      await db.destroy()
      await sql.end({ timeout: 5 })
    },
  }
}

/** Rows come out ready to send: timestamps as ISO 8601 text, counts as numbers. */
export function connect(target: Target, options: Options<Record<string, never>>): Sql {
  const shared = {
    // Pipelining puts a point select behind whatever slow query went out before it.
    max_pipeline: 1,
    connect_timeout: 5,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 2),
    onnotice: () => {},
    types,
    ...options,
  } as unknown as Options<Record<string, never>>
  return typeof target === 'string'
    ? postgres(target, shared)
    : postgres({ database: EMBEDDED_NAME, ...shared, ...target, user: EMBEDDED_NAME })
}

/** Role and database of the embedded server. */
export const EMBEDDED_NAME = 'mailplane'

const INT8 = 20
const TIMESTAMPTZ = 1184
const types = {
  bigint: {
    to: INT8,
    from: [INT8],
    serialize: (value: number | bigint) => String(value),
    parse: (text: string) => Number(text),
  },
  timestamptz: {
    to: TIMESTAMPTZ,
    from: [TIMESTAMPTZ],
    serialize: (value: Date | string) => (value instanceof Date ? value.toISOString() : value),
    parse: isoTimestamp,
  },
}

/** `2026-11-15 02:37:58.5+00` as PostgreSQL writes it in UTC, to `2026-11-15T02:37:58.500Z`. */
export function isoTimestamp(text: string): string {
  // Nearly all of them; a page of a list has hundreds.
  if (text.length > '2026-11-15 02:37:58.50+00'.length) {
    return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
  }
  const millis = text.charCodeAt(19) === 46 ? text.slice(20, -3).padEnd(3, '0') : '000'
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${millis}Z`
}
