import {
  CompiledQuery,
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
import { type OpenClient, TransactionClients } from './transactions.ts'

/**
 * Kysely over postgres.js. A single statement goes to the shared pool; a transaction borrows a
 * connection of its own.
 */
export const postgresDialect = (pool: Sql, open: OpenClient, transactions: number): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PostgresDriver(pool, new TransactionClients(open, transactions)),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PostgresDriver implements Driver {
  readonly #pool: Sql
  readonly #clients: TransactionClients
  constructor(pool: Sql, clients: TransactionClients) {
    this.#pool = pool
    this.#clients = clients
  }

  async init() {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(this.#pool)
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings) {
    const { isolationLevel, accessMode } = settings
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    const begin = `begin${level}${accessMode ? ` ${accessMode}` : ''}`
    connection.client = await this.#clients.borrow()
    await connection.executeQuery(CompiledQuery.raw(begin))
  }

  async commitTransaction(connection: PostgresConnection) {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: PostgresConnection) {
    // PostgreSQL rolls back the transaction of a lost connection by itself.
    if (connection.client?.isLost) return
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async releaseConnection(connection: PostgresConnection) {
    if (connection.client) this.#clients.giveBack(connection.client)
  }

  destroy = () => this.#clients.close()
}

class PostgresConnection implements DatabaseConnection {
  readonly #pool: Sql
  client: Awaited<ReturnType<TransactionClients['borrow']>> | undefined
  constructor(pool: Sql) {
    this.#pool = pool
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const result = await (this.client
      ? this.client.run((client) => run(client, sql, parameters))
      : run(this.#pool, sql, parameters))
    const numAffectedRows = BigInt(result.count ?? 0)
    // Moves the rows out: postgres.js keeps finished results reachable for a while, and with their
    // rows in them each garbage collection takes longer.
    return { rows: result.splice(0) as unknown as Row[], numAffectedRows }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}

/** Statements without parameters are prepared too; otherwise they would be planned at each execution. */
const run = (client: Sql, text: string, parameters: readonly unknown[]) =>
  client.unsafe(text, parameters as never[], { prepare: true, simple: false } as { prepare: true })
