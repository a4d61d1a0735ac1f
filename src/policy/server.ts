import { createServer, type Socket } from 'node:net'
import type { Log } from '../log.ts'
import { actionOf, type PolicyRequest, policyParser } from './protocol.ts'

const MAX_CONNECTIONS = 5000
const MAX_QUEUED = 1000
// Postfix itself closes what has been idle for five minutes.
const IDLE_MS = 15 * 60_000
const UNFINISHED_MS = 30_000
const CLOSING_MS = 500

export type Decide = (request: PolicyRequest) => string | Promise<string>

/** Answers the policy protocol: many requests per connection, in their order. */
export function policyServer(decide: Decide, log: Log) {
  const sockets = new Set<Socket>()
  const busy = new Set<Promise<void>>()

  const server = createServer({ noDelay: true }, (socket) => {
    const queue: PolicyRequest[] = []
    let isDeciding = false
    let heardAt = Date.now()

    const fail = (error: unknown) => {
      log.error({ err: error }, 'a policy request failed unexpectedly')
      socket.destroy()
    }
    // Who does not read what it asked for is not asked to say more.
    const send = (action: string) => {
      if (!socket.write(actionOf(action))) socket.pause()
    }
    const work = (): void => {
      while (!isDeciding) {
        const request = queue.shift()
        if (!request) return
        const action = decide(request)
        if (typeof action === 'string') send(action)
        else {
          isDeciding = true
          const job = action.then(send, fail).then(() => {
            isDeciding = false
            busy.delete(job)
            if (queue.length < MAX_QUEUED && !socket.writableNeedDrain) socket.resume()
            work()
          })
          busy.add(job)
        }
      }
    }
    const parser = policyParser((request) => {
      queue.push(request)
      if (queue.length >= MAX_QUEUED) socket.pause()
      work()
    })

    sockets.add(socket)
    const patience = setInterval(() => {
      if (parser.isWaiting && Date.now() - heardAt > UNFINISHED_MS) socket.destroy()
    }, UNFINISHED_MS)
    patience.unref()
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('drain', () => socket.resume())
    socket.on('close', () => {
      clearInterval(patience)
      sockets.delete(socket)
      queue.length = 0
    })
    socket.on('data', (chunk: Buffer) => {
      heardAt = Date.now()
      try {
        parser.push(chunk)
      } catch (error) {
        log.warn({ err: error }, 'not a policy request')
        socket.destroy()
      }
    })
  })
  server.maxConnections = MAX_CONNECTIONS

  return {
    server,
    /** What was asked is answered; who only waits is let go. */
    async stop(): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      while (busy.size > 0) await Promise.all(busy)
      for (const socket of sockets) socket.end()
      const patience = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, CLOSING_MS)
      await closed
      clearTimeout(patience)
    },
  }
}
