import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Sql } from 'postgres'
import type { OpenTransaction, Transactions } from './transactions.ts'

/**
 * Kysely over postgres.js. Outside transactions the compiled SQL goes straight to the pool as a
 * named prepared statement; only a transaction has a connection to itself. The usual dialect takes
 * one for every query and keeps a third of the throughput.
 */
export const postgresDialect = (sql: Sql, transactions: Transactions): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PostgresDriver(sql, transactions),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PostgresDriver implements Driver {
  readonly #sql: Sql
  readonly #transactions: Transactions
  constructor(sql: Sql, transactions: Transactions) {
    this.#sql = sql
    this.#transactions = transactions
  }

  async init() {}
  destroy = () => this.#transactions.close()

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PostgresConnection(this.#sql)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings) {
    const { isolationLevel, accessMode } = settings
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    const command = `begin${level}${accessMode ? ` ${accessMode}` : ''}`
    const own = connection as PostgresConnection
    own.transaction = await this.#transactions.begin(command)
  }

  async commitTransaction(connection: DatabaseConnection) {
    await (connection as PostgresConnection).transaction?.commit()
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    await (connection as PostgresConnection).transaction?.rollback()
  }

  async releaseConnection(connection: DatabaseConnection) {
    ;(connection as PostgresConnection).transaction?.release()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #pool: Sql
  transaction: OpenTransaction | undefined
  constructor(pool: Sql) {
    this.#pool = pool
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const rows = await (this.transaction
      ? this.transaction.query(sql, parameters)
      : this.#pool.unsafe(sql, parameters as never[], { prepare: true }))
    const numAffectedRows = BigInt(rows.count ?? 0)
    return { rows: rows as unknown as Row[], numAffectedRows }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}
