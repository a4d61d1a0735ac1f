import type { Sql } from 'postgres'
import { ask } from './ask.ts'

/** Makes a client of postgres.js that keeps one connection and says when it has closed. */
type OpenClient = (onclose: () => void) => Sql

export type Transactions = ReturnType<typeof transactionPool>
export type OpenTransaction = ReturnType<typeof transactionOn>

interface Connection {
  client: Sql | undefined
}

/**
 * Connections that are lent to one transaction at a time. The pool of postgres.js lends its own
 * too, but not safely: when the server restarts, a transaction under way ends the process, and
 * every one that cannot begin keeps a connection for ever.
 */
export function transactionPool(open: OpenClient, size: number) {
  const connections: Connection[] = []
  const idle: Connection[] = []
  const waiting: ((connection: Connection) => void)[] = []

  const acquire = async (): Promise<Connection> => {
    const free = idle.pop()
    if (free) return free
    if (connections.length >= size) return new Promise((resolve) => waiting.push(resolve))
    const connection: Connection = { client: undefined }
    connections.push(connection)
    return connection
  }
  const release = (connection: Connection) => {
    const next = waiting.shift()
    if (next) next(connection)
    else idle.push(connection)
  }

  return {
    async begin(command: string): Promise<OpenTransaction> {
      const connection = await acquire()
      const transaction = transactionOn(connection, open, () => release(connection))
      try {
        await transaction.query(command)
      } catch (error) {
        transaction.release()
        throw error
      }
      return transaction
    },

    async close(): Promise<void> {
      await Promise.all(connections.map(({ client }) => client?.end({ timeout: 5 })))
    },
  }
}

function transactionOn(connection: Connection, open: OpenClient, release: () => void) {
  const client = connection.client ?? open(() => discard())
  connection.client = client
  const discard = () => {
    if (connection.client !== client) return
    connection.client = undefined
    client.end({ timeout: 0 }).catch(() => {})
  }

  const query = async (text: string, parameters: readonly unknown[] = []) => {
    // The client would connect again, and the statement would stand alone.
    if (connection.client !== client) {
      throw new Error('the connection was lost in the middle of a transaction')
    }
    try {
      return await ask(client, text, parameters)
    } catch (error) {
      // After anything but a plain refusal the connection is broken, or will be in a moment.
      if ((error as { severity?: string }).severity !== 'ERROR') discard()
      throw error
    }
  }
  return {
    query,
    commit: () => query('commit'),
    /** PostgreSQL itself has rolled back what a lost connection had begun. */
    rollback: async () => {
      if (connection.client === client) await query('rollback')
    },
    release,
  }
}
