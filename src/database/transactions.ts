import type { Sql } from 'postgres'

/** Opens a client of postgres.js with one connection; `onclose` is called when that has closed. */
export type OpenClient = (onclose: () => void) => Sql

/**
 * Clients with one connection each, lent to one transaction at a time. The pool of postgres.js cannot
 * be used for transactions: when the server restarts, a transaction in progress continues on another
 * connection without its earlier statements, and its connection is never given back.
 */
export class TransactionClients {
  readonly #open: OpenClient
  readonly #size: number
  readonly #clients = new Set<TransactionClient>()
  readonly #idle: TransactionClient[] = []
  readonly #waiting: ((client: TransactionClient) => void)[] = []

  constructor(open: OpenClient, size: number) {
    this.#open = open
    this.#size = size
  }

  async borrow(): Promise<TransactionClient> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost) return idle
      this.#clients.delete(idle)
    }
    if (this.#clients.size < this.#size) return this.#add()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  giveBack(client: TransactionClient): void {
    if (client.isLost) this.#clients.delete(client)
    const next = this.#waiting.shift()
    if (next) next(client.isLost ? this.#add() : client)
    else if (!client.isLost) this.#idle.push(client)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.close()))
  }

  #add(): TransactionClient {
    const client = new TransactionClient(this.#open)
    this.#clients.add(client)
    return client
  }
}

class TransactionClient {
  /** True after the connection has closed: the client would open another, outside the transaction. */
  isLost = false
  readonly #sql: Sql

  constructor(open: OpenClient) {
    this.#sql = open(() => this.#discard())
  }

  async run<Result>(statement: (sql: Sql) => PromiseLike<Result>): Promise<Result> {
    if (this.isLost) throw new Error('the connection was lost during the transaction')
    try {
      return await statement(this.#sql)
    } catch (error) {
      // Any error but a refused statement means that the connection is broken.
      if ((error as { severity?: string }).severity !== 'ERROR') this.#discard()
      throw error
    }
  }

  close = () => this.#sql.end({ timeout: 5 })

  #discard(): void {
    if (this.isLost) return
    this.isLost = true
    this.#sql.end({ timeout: 0 }).catch(() => {})
  }
}
