import { Kysely, type Transaction } from 'kysely'
import postgres, { type Sql } from 'postgres'
import { type Budget, budgetOf, isPatient } from './budget.ts'
import { Clients } from './clients.ts'
import { connect, type Target } from './connect.ts'
import { type Lending, postgresDialect } from './dialect.ts'
import { type OpenClient, primaryOf } from './primary.ts'
import type { Tables } from './tables.ts'
import { watchOver } from './watch.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

export { connect, EMBEDDED_NAME, type Target } from './connect.ts'

export interface Database {
  db: Db
  /** For schema changes and backups: without deadlines, and for a target with one host. */
  readonly sql: Sql
  /** Opens a further connection. */
  open: OpenClient
  close(): Promise<void>
}

interface Settings {
  pool: number
  name: string
  /** Seconds of a statement. */
  timeout?: number
  /** Seconds of a statement of long work. */
  longTimeout?: number
}

export const DEFAULT_TIMEOUT = 8
export const DEFAULT_LONG_TIMEOUT = 900
/** Seconds of an attempt to connect: the time of a statement less these, but not fewer than 5. */
const LEFT_FOR_STATEMENT = 3
const LEAST_CONNECT = 5
/** Connections for the statements of long work, and as many for its transactions. */
const LONG_CONNECTIONS = 3
/** Connections that work of one owner may have; the others are left for other work. */
const LONG_PER_OWNER = 2

/** Half of the connections serve single statements, half serve transactions. */
export function openDatabase(
  target: Target,
  { pool, name, timeout = DEFAULT_TIMEOUT, longTimeout = DEFAULT_LONG_TIMEOUT }: Settings,
): Database {
  const open = primaryOf(target, Math.max(LEAST_CONNECT, timeout - LEFT_FOR_STATEMENT) * 1000)
  const usual = lending(open, name, Math.ceil(pool / 2), budgetOf(timeout))
  const watch = watchOver(open)
  const opened = async (opening: Parameters<OpenClient>[0]) => watch.add(await open(opening))
  const longBudget = budgetOf(Math.max(timeout, longTimeout))
  const long = lending(opened, name, LONG_CONNECTIONS, longBudget, LONG_PER_OWNER)
  const db: Db = new Kysely({ dialect: postgresDialect(() => (isPatient() ? long : usual)) })
  let sql: Sql | undefined
  return {
    db,
    open,
    get sql() {
      sql ??= connect(target, {
        max: Math.ceil(pool / 2),
        connection: { application_name: `mailplane ${name}`, TimeZone: 'UTC' },
      })
      return sql
    },
    async close() {
      watch.stop()
      await db.destroy()
      await Promise.all(
        [usual, long].flatMap(({ statements, transactions }) => [
          statements.close(),
          transactions.close(),
        ]),
      )
      await sql?.end({ timeout: 5 })
    },
  }
}

function lending(
  open: OpenClient,
  name: string,
  size: number,
  budget: Budget,
  perOwner = size,
): Lending {
  // One silent connection means that the others to the same server may be silent as well.
  const silent = () => {
    statements.discardIdle()
    transactions.discardIdle()
  }
  const openOne = () => open({ name, budget, silent })
  const statements = new Clients(openOne, size, budget.silenceMs, perOwner)
  const transactions = new Clients(openOne, size, budget.silenceMs, perOwner)
  return { statements, transactions }
}

/** A further connection to the same database, which may be closed in the middle of a statement. */
export const ownConnection = (sql: Sql): Sql =>
  postgres({ ...sql.options, max: 1, max_lifetime: null } as never)
