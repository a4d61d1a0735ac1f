import { BACKEND, type Client } from './client.ts'
import type { OpenClient } from './primary.ts'

const USUAL = {
  lookMs: 5000,
  /** A statement is given up when its server has not been heard of for this long. */
  silentMs: 15_000,
}
const TOO_MANY_CONNECTIONS = '53300'
const ASKING = { name: 'watch', budget: { statementMs: 5000, lockMs: 5000, silenceMs: 5000 } }

/**
 * Watches over connections whose statements may take minutes. A server that is frozen or cut off looks
 * like one that is working, so a second connection asks whether it still works on them. After a change
 * of the primary that connection leads to the new one, which does not know them.
 */
export function watchOver(open: OpenClient, { lookMs, silentMs } = USUAL) {
  const clients = new Set<Client>()
  const heard = new WeakMap<Client, number>()
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    for (const client of clients) if (client.isLost) clients.delete(client)
    const limit = performance.now() - lookMs
    const busy = [...clients].filter(({ runsSince = Infinity }) => runsSince < limit)
    if (busy.length > 0) await ask(busy)
    timer = undefined
    if (!isStopped && clients.size > 0) wait()
  }
  const ask = async (busy: Client[]) => {
    const living = await backends(open).catch((error) => {
      // A server that has no connection left for the question lives.
      if (error.code === TOO_MANY_CONNECTIONS) return new Set(busy.map(({ backend }) => backend))
    })
    for (const client of busy) {
      const { backend, runsSince } = client
      if (runsSince === undefined) continue
      const sinceMs = performance.now() - Math.max(runsSince, heard.get(client) ?? 0)
      if (living?.has(backend)) heard.set(client, performance.now())
      else if (living || sinceMs > silentMs) client.giveUp('the database stopped answering')
    }
  }
  const wait = () => {
    timer ??= setTimeout(look, lookMs).unref()
  }

  return {
    add(client: Client): Client {
      clients.add(client)
      wait()
      return client
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** The processes of the server that answers at the moment. */
async function backends(open: OpenClient): Promise<Set<string>> {
  const client = await open(ASKING)
  try {
    const rows = await client.run((sql) =>
      sql.unsafe<{ backend: string }[]>(`select ${BACKEND} as backend from pg_stat_activity`),
    )
    return new Set(rows.map(({ backend }) => backend))
  } finally {
    await client.close()
  }
}
