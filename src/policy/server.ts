import { createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MINUTE_MS } from '../lib/time.ts'
import type { Log } from '../log.ts'
import { actionOf, type PolicyRequest, policyParser, withLogin } from './protocol.ts'

const MAX_CONNECTIONS = 5000
const MAX_QUEUED = 1000
const MAX_AT_ONCE = 200
// Postfix closes its own idle connections after five minutes.
const IDLE_MS = 15 * MINUTE_MS
const UNFINISHED_MS = 30_000
const CLOSING_MS = 500

type Decide = (request: PolicyRequest) => string | Promise<string>

/** A server for the policy protocol: many requests per connection, answered in order. */
export function policyServer(decide: Decide, log: Log) {
  const sockets = new Set<Socket>()
  const busy = new Set<Promise<void>>()

  const server = createServer({ noDelay: true }, (socket) => {
    const queue: PolicyRequest[] = []
    let isWaiting = false
    let decided = 0
    let heardAt = Date.now()

    const fail = (error: unknown) => {
      log.error({ err: error }, 'policy request failed')
      socket.destroy()
    }
    // Stop reading while the client does not read its answers.
    const send = (action: string) => {
      if (!socket.write(actionOf(action))) socket.pause()
    }
    const waitFor = (event: Promise<void>) => {
      isWaiting = true
      const job = event.then(() => {
        isWaiting = false
        busy.delete(job)
        if (queue.length < MAX_QUEUED && !socket.writableNeedDrain) socket.resume()
        work()
      })
      busy.add(job)
    }
    const work = (): void => {
      while (!isWaiting) {
        // A client may send thousands of requests at once: the event loop runs other work between.
        if (decided === MAX_AT_ONCE) {
          decided = 0
          waitFor(nextTurn())
          return
        }
        const request = queue.shift()
        if (!request) return
        decided++
        const action = decide(request)
        const answer = (text: string) => send(withLogin(text, request))
        if (typeof action === 'string') answer(action)
        else waitFor(action.then(answer, fail))
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
    /** Answers pending requests and closes idle connections. */
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
