import type { Sql } from 'postgres'
import type { Answer } from './ask.ts'
import { lentConnections, type OpenClient } from './connections.ts'

/**
 * Single statements on connections with a setting of their own. A transaction for the sake of `set
 * local` would go to the server and back four times. A setting at the start of a connection would be
 * refused by poolers.
 */
export function sessionPool(open: OpenClient, setting: string, size: number) {
  const { borrow, close } = lentConnections(open, size)
  const set = new WeakSet<Sql>()
  return {
    async query(text: string, parameters: readonly unknown[]): Promise<Answer> {
      const { client, query, release } = await borrow()
      try {
        if (!set.has(client)) {
          await query(setting)
          set.add(client)
        }
        return await query(text, parameters)
      } finally {
        release()
      }
    },
    close,
  }
}
