import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  type KyselyProps,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Sql } from 'postgres'
import { type Answer, ask } from './ask.ts'
import type { OpenTransaction, Transactions } from './transactions.ts'

/**
 * Kysely over postgres.js. Outside transactions the compiled SQL goes straight to the pool as a
 * named prepared statement; only a transaction has a connection to itself. The usual dialect takes
 * one for every query and keeps a third of the throughput.
 */
export function overPool(sql: Sql, transactions: Transactions): KyselyProps {
  const driver = new PostgresDriver(sql, transactions)
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return { config: { dialect }, dialect, driver, executor: new PoolExecutor(sql, driver) }
}

/** Spares a query the connection that Kysely would provide, watch over and release for it. */
class PoolExecutor extends DefaultQueryExecutor {
  readonly #sql: Sql
  constructor(sql: Sql, driver: Driver) {
    const provider = new DefaultConnectionProvider(driver)
    super(new PostgresQueryCompiler(), new PostgresAdapter(), provider)
    this.#sql = sql
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return runOn(this.#sql, query)
  }
}

const runOn = <Row>(pool: Sql, { sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> =>
  resultOf(ask(pool, sql, parameters))

async function resultOf<Row>(answer: Promise<Answer>): Promise<QueryResult<Row>> {
  const { rows, count } = await answer
  return { rows: rows as Row[], numAffectedRows: BigInt(count) }
}

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

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.transaction
      ? resultOf(this.transaction.query(query.sql, query.parameters))
      : runOn(this.#pool, query)
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}
