import { Kysely, type Transaction } from 'kysely'
import postgres, { type Options, type Sql } from 'postgres'
import { columnTypes } from './column-types.ts'
import { postgresDialect } from './dialect.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** The address of PostgreSQL: a URL, or the socket folder and port of an embedded server. */
export type Target = string | { host: string; port: number; password: string }

export interface Database {
  db: Db
  sql: Sql
  close(): Promise<void>
}

/** Half of the connections serve single statements, half serve transactions. */
export function openDatabase(target: Target, options: { pool: number; name: string }): Database {
  const connection = { application_name: `mailplane ${options.name}`, TimeZone: 'UTC' }
  const half = Math.ceil(options.pool / 2)
  const sql = connect(target, { max: half, connection })
  // Without a lifetime: a connection must not be renewed in the middle of a transaction.
  const open = (onclose: () => void) =>
    connect(target, { max: 1, max_lifetime: null, connection, onclose })
  const db: Db = new Kysely({ dialect: postgresDialect(sql, open, half) })
  return {
    db,
    sql,
    async close() {
      await db.destroy()
      await sql.end({ timeout: 5 })
    },
  }
}

export function connect(target: Target, options: Options<Record<string, never>>): Sql {
  const shared = {
    // Pipelining puts a point select behind any slow query that was sent before it.
    max_pipeline: 1,
    connect_timeout: 5,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 2),
    onnotice: () => {},
    // postgres.js does not handle a failure of its own query for array types: when the server restarts
    // at that moment the process ends with an unhandled rejection. `columnTypes` has the arrays we use.
    fetch_types: false,
    types: columnTypes,
    ...options,
  } as unknown as Options<Record<string, never>>
  return typeof target === 'string'
    ? postgres(target, shared)
    : postgres({ database: EMBEDDED_NAME, ...shared, ...target, user: EMBEDDED_NAME })
}

/** A further connection to the same database, which may be closed in the middle of a statement. */
export const ownConnection = (sql: Sql): Sql =>
  postgres({ ...sql.options, max: 1, max_lifetime: null } as never)

/** Role and database of the embedded server. */
export const EMBEDDED_NAME = 'mailplane'
