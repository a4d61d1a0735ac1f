import { type Borrowed, lentConnections, type OpenClient } from './connections.ts'

export type Transactions = ReturnType<typeof transactionPool>
export type OpenTransaction = ReturnType<typeof transactionOn>

/**
 * Connections that are lent to one transaction at a time. The pool of postgres.js lends its own
 * too, but not safely: when the server restarts, a transaction under way ends the process, and
 * every one that cannot begin keeps a connection for ever.
 */
export function transactionPool(open: OpenClient, size: number) {
  const { borrow, close } = lentConnections(open, size)
  return {
    async begin(command: string): Promise<OpenTransaction> {
      const transaction = transactionOn(await borrow())
      try {
        await transaction.query(command)
      } catch (error) {
        transaction.release()
        throw error
      }
      return transaction
    },
    close,
  }
}

const transactionOn = ({ query, isLost, release }: Borrowed) => ({
  query,
  commit: () => query('commit'),
  /** PostgreSQL itself has rolled back what a lost connection had begun. */
  rollback: async () => {
    if (!isLost()) await query('rollback')
  },
  release,
})
