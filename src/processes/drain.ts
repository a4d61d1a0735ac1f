import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** After this time the connections that are left are cut. */
export const LIMIT_MS = 5000
/** Time for the clients of open connections to send their next request and to be told to close. */
export const LINGER_MS = 1000

const closing = new WeakMap<Server, Promise<void>>()

/** Refuses new connections; the promise is kept when the last open one has ended. */
export function refuseConnections(server: Server): Promise<void> {
  const closed =
    closing.get(server) ??
    // The close method of the HTTP server would also cut connections on which a request arrives.
    new Promise((resolve) => Server.prototype.close.call(server, () => resolve()))
  closing.set(server, closed)
  return closed
}

/**
 * Ends a listener without a wrong answer. New connections are refused first. Open connections get the
 * answer to the request under way and to one that is sent meanwhile, with `connection: close`. Idle
 * ones are closed after a second, and the rest after five.
 */
export async function drain(app: FastifyInstance): Promise<void> {
  const { server } = app
  const idle = setInterval(() => server.closeIdleConnections(), LINGER_MS)
  const limit = setTimeout(() => server.closeAllConnections(), LIMIT_MS)
  await refuseConnections(server)
  clearInterval(idle)
  clearTimeout(limit)
  await app.close()
}
