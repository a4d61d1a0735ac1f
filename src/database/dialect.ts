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
import type { ReservedSql, Sql } from 'postgres'

/**
 * Kysely over postgres.js. Outside transactions the compiled SQL goes straight to the pool as a
 * named prepared statement; only a transaction reserves a connection. The usual dialect reserves
 * one for every query and keeps a third of the throughput.
 */
export const postgresDialect = (sql: Sql): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PostgresDriver(sql),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

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
    await (connection as PostgresConnection).run('commit')
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    await (connection as PostgresConnection).run('rollback')
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
    await this.run(`begin${level}${accessMode ? ` ${accessMode}` : ''}`)
  }

  async run(command: string) {
    await (this.#reserved as ReservedSql).unsafe(command)
  }

  release() {
    this.#reserved?.release()
    this.#reserved = undefined
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const rows = await (this.#reserved ?? this.#pool).unsafe(
      query.sql,
      query.parameters as never[],
      { prepare: true },
    )
    const numAffectedRows = BigInt(rows.count ?? 0)
    return { rows: rows as unknown as Row[], numAffectedRows }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}
