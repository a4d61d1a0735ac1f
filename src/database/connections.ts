import type { Sql } from 'postgres'
import { type Answer, ask } from './ask.ts'

/** Makes a client of postgres.js that keeps one connection and says when it has closed. */
export type OpenClient = (onclose: () => void) => Sql

interface Connection {
  client: Sql | undefined
}

export interface Borrowed {
  /** Another one after the connection was lost and borrowed again. */
  client: Sql
  query(text: string, parameters?: readonly unknown[]): Promise<Answer>
  isLost(): boolean
  release(): void
}

/** Connections that are lent to one at a time. A lost one is renewed when it is lent the next time. */
export function lentConnections(open: OpenClient, size: number) {
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

  return {
    async borrow(): Promise<Borrowed> {
      const connection = await acquire()
      return borrowed(connection, open, () => {
        const next = waiting.shift()
        if (next) next(connection)
        else idle.push(connection)
      })
    },
    async close(): Promise<void> {
      await Promise.all(connections.map(({ client }) => client?.end({ timeout: 5 })))
    },
  }
}

function borrowed(connection: Connection, open: OpenClient, release: () => void): Borrowed {
  const client = connection.client ?? open(() => discard())
  connection.client = client
  const isLost = () => connection.client !== client
  const discard = () => {
    if (isLost()) return
    connection.client = undefined
    client.end({ timeout: 0 }).catch(() => {})
  }

  return {
    client,
    async query(text, parameters = []) {
      // The client would connect again, and know nothing of what was said before.
      if (isLost()) throw new Error('the connection was lost in the middle of a transaction')
      try {
        return await ask(client, text, parameters)
      } catch (error) {
        // After anything but a plain refusal the connection is broken, or will be in a moment.
        if ((error as { severity?: string }).severity !== 'ERROR') discard()
        throw error
      }
    },
    isLost,
    release,
  }
}
