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
import type { Answer } from './ask.ts'
import type { OpenTransaction, Transactions } from './transactions.ts'

/** Runs a statement that stands alone. */
type Run = (text: string, parameters: readonly unknown[]) => Promise<Answer>

/**
 * Kysely over postgres.js. Outside transactions the compiled SQL goes straight to the pool as a
 * named prepared statement; only a transaction has a connection to itself. The usual dialect takes
 * one for every query and keeps a third of the throughput.
 */
export function overPool(run: Run, transactions: Transactions): KyselyProps {
  const driver = new PostgresDriver(run, transactions)
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return { config: { dialect }, dialect, driver, executor: new PoolExecutor(run, driver) }
}

/** Spares a query the connection that Kysely would provide, watch over and release for it. */
class PoolExecutor extends DefaultQueryExecutor {
  readonly #run: Run
  constructor(run: Run, driver: Driver) {
    const provider = new DefaultConnectionProvider(driver)
    super(new PostgresQueryCompiler(), new PostgresAdapter(), provider)
    this.#run = run
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return resultOf(this.#run(query.sql, query.parameters))
  }
}

async function resultOf<Row>(answer: Promise<Answer>): Promise<QueryResult<Row>> {
  const { rows, count } = await answer
  return { rows: rows as Row[], numAffectedRows: BigInt(count) }
}

class PostgresDriver implements Driver {
  readonly #run: Run
  readonly #transactions: Transactions
  constructor(run: Run, transactions: Transactions) {
    this.#run = run
    this.#transactions = transactions
  }

  async init() {}
  destroy = () => this.#transactions.close()

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PostgresConnection(this.#run)
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
  readonly #run: Run
  transaction: OpenTransaction | undefined
  constructor(run: Run) {
    this.#run = run
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const run = this.transaction?.query ?? this.#run
    return resultOf(run(query.sql, query.parameters))
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}
