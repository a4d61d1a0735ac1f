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
import { longOwner } from './budget.ts'
import type { Client } from './client.ts'
import type { Clients } from './clients.ts'
import { asUnavailable } from './outage.ts'

export interface Lending {
  statements: Clients
  transactions: Clients
}

/**
 * Kysely over postgres.js. A single statement borrows a connection of one set, a transaction one of
 * another set: statements do not wait for transactions to end.
 */
export const postgresDialect = (lending: () => Lending): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PostgresDriver(lending),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PostgresDriver implements Driver {
  readonly #lending: () => Lending
  constructor(lending: () => Lending) {
    this.#lending = lending
  }

  async init() {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(this.#lending())
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings) {
    const { isolationLevel, accessMode } = settings
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    await connection.begin(`begin${level}${accessMode ? ` ${accessMode}` : ''}`)
  }

  async commitTransaction(connection: PostgresConnection) {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: PostgresConnection) {
    // PostgreSQL rolls back the transaction of a lost connection by itself.
    if (connection.isLost) return
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async releaseConnection(connection: PostgresConnection) {
    connection.release()
  }

  async destroy() {}
}

class PostgresConnection implements DatabaseConnection {
  readonly #lending: Lending
  /** The connection of the transaction, from its begin to its end. */
  #client: Client | undefined
  constructor(lending: Lending) {
    this.#lending = lending
  }

  get isLost(): boolean {
    return this.#client?.isLost ?? false
  }

  async begin(statement: string): Promise<void> {
    this.#client = await this.#lending.transactions.borrow(longOwner()).catch((error) => {
      throw asUnavailable(error)
    })
    await this.executeQuery(CompiledQuery.raw(statement))
  }

  release(): void {
    if (this.#client) this.#lending.transactions.giveBack(this.#client)
    this.#client = undefined
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const result = await (this.#client
        ? run(this.#client, sql, parameters)
        : this.#runAlone(sql, parameters))
      const numAffectedRows = BigInt(result.count ?? 0)
      // Moves the rows out: postgres.js keeps finished results reachable for a while, and with their
      // rows in them each garbage collection takes longer.
      return { rows: result.splice(0) as unknown as Row[], numAffectedRows }
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  async #runAlone(sql: string, parameters: readonly unknown[]) {
    const { statements } = this.#lending
    const client = await statements.borrow(longOwner())
    try {
      return await run(client, sql, parameters)
    } finally {
      statements.giveBack(client)
    }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not supported; page through the rows instead')
  }
}

/** Statements without parameters are prepared too; otherwise they would be planned at each execution. */
const run = (client: Client, text: string, parameters: readonly unknown[]) =>
  client.run((sql: Sql) =>
    sql.unsafe(text, parameters as never[], { prepare: true, simple: false } as { prepare: true }),
  )
