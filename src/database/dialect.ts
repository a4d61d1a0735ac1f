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
import type { ReservedSql, Sql } from 'postgres'

/**
 * Kysely over postgres.js. Outside transactions the compiled SQL goes straight to the pool as a
 * named prepared statement; only a transaction reserves a connection. The usual dialect reserves
 * one for every query and keeps a third of the throughput.
 */
export function overPool(sql: Sql): KyselyProps {
  const driver = new PostgresDriver(sql)
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
    return run(this.#sql, query)
  }
}

async function run<Row>(sql: Sql, query: CompiledQuery): Promise<QueryResult<Row>> {
  const rows = await sql.unsafe(query.sql, query.parameters as never[], { prepare: true })
  return { rows: rows as unknown as Row[], numAffectedRows: BigInt(rows.count ?? 0) }
}

class PostgresDriver implements Driver {
  readonly #sql: Sql
  constructor(sql: Sql) {
    this.#sql = sql
  }

  async init() {}
  async destroy() {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PostgresConnection(this.#sql)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings) {
    await (connection as PostgresConnection).begin(settings)
  }

  async commitTransaction(connection: DatabaseConnection) {
    await (connection as PostgresConnection).command('commit')
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    await (connection as PostgresConnection).command('rollback')
  }

  async releaseConnection(connection: DatabaseConnection) {
    ;(connection as PostgresConnection).release()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #pool: Sql
  #reserved: ReservedSql | undefined
  constructor(pool: Sql) {
    this.#pool = pool
  }

  async begin({ isolationLevel, accessMode }: TransactionSettings) {
    this.#reserved = await this.#pool.reserve()
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    await this.command(`begin${level}${accessMode ? ` ${accessMode}` : ''}`)
  }

  async command(text: string) {
    await (this.#reserved as ReservedSql).unsafe(text)
  }

  release() {
    this.#reserved?.release()
    this.#reserved = undefined
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return run(this.#reserved ?? this.#pool, query)
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}
