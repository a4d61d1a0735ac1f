import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { StartupError } from '../startup-error.ts'
import { LIMIT_MS, LINGER_MS } from './drain.ts'

const LOOK_MS = 10

/** A process that can take a connection. */
export interface Taker {
  /** Returns false when it cannot take one now. */
  take(socket: Socket): boolean
}

/**
 * Accepts the connections of all workers and hands them over in turn, before anything is read. The
 * module node:cluster does the same, but a client whose connection was on the way to a worker that is
 * killed waits there for ever. Connections that no worker can take now wait here.
 */
export async function shareListener(
  { host, port }: { host: string; port: number },
  takers: () => readonly Taker[],
) {
  let turn = 0
  const waiting: Socket[] = []
  const isTaken = (socket: Socket): boolean => {
    const all = takers()
    return all.some(() => all[turn++ % all.length]?.take(socket))
  }
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    if (waiting.length > 0 || !isTaken(socket)) waiting.push(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  }).catch((error) => {
    if (error.syscall !== 'getaddrinfo') throw error
    throw new StartupError(`HOST ${host} is not an address of this machine (${error.code})`)
  })
  return {
    port: (server.address() as { port: number }).port,
    /** Hands over what has waited for a worker, in order. */
    resume() {
      for (let [next] = waiting; next && isTaken(next); [next] = waiting) waiting.shift()
    },
    /** Closes the listener; what it has accepted is still handed over. */
    async refuse() {
      server.close()
      const limit = performance.now() + LINGER_MS
      while (waiting.length > 0 && performance.now() < limit) await sleep(LOOK_MS)
      for (const socket of waiting.splice(0)) socket.destroy()
    },
  }
}

/** Serves connections that the parent accepted. */
export async function receiveConnections(app: FastifyInstance) {
  const open = new Set<Socket>()
  await app.ready()
  // The HTTP server begins to watch idle and slow connections with this event.
  app.server.emit('listening')
  return {
    take(socket: Socket): void {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      app.server.emit('connection', socket)
      socket.resume()
    },
    /** Like `drain`, for a server without a listener of its own. */
    async drain(): Promise<void> {
      const closed = () =>
        Promise.all([...open].map((socket) => new Promise((done) => socket.once('close', done))))
      const idle = setInterval(() => app.server.closeIdleConnections(), LINGER_MS)
      const limit = setTimeout(() => {
        for (const socket of open) socket.destroy()
      }, LIMIT_MS)
      while (open.size > 0) await closed()
      clearInterval(idle)
      clearTimeout(limit)
      await app.close()
    },
  }
}
