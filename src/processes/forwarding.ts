import { Agent, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { PEER_HEADER } from '../access/forwarded-peer.ts'
import type { Core } from '../core.ts'
import { ApiError } from '../errors.ts'
import { errorBody } from '../http/error-handler.ts'
import { protectiveHeaders } from '../http/headers.ts'
import { sequentialIds } from '../lib/ulid.ts'

// Shorter than the server keeps a connection, so that it closes none that is about to be used.
const IDLE_MS = 30_000

/** A route of the process with the daemons that run once. */
export interface ForwardedRoute {
  method: string
  url: string
}

interface Destination {
  port: number
  secret: string
  routes(): readonly ForwardedRoute[] | undefined
}

/**
 * Sends requests for routes of another process of this server there, and all others to the app. Nothing
 * of a request is read here: the other process guards and records it like its own.
 */
export function forwardRequests(
  app: FastifyInstance,
  { config, log, stopping }: Pick<Core, 'config' | 'log' | 'stopping'>,
  { port, secret, routes }: Destination,
): void {
  const nextId = sequentialIds('req_')
  const protection = protectiveHeaders(config)
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS })
  const [handle] = app.server.listeners('request')
  let known: readonly ForwardedRoute[] | undefined
  let matches = routeMatcher([])

  function isForwarded({ method = '', url = '/' }: IncomingMessage): boolean {
    const current = routes()
    if (current !== known) {
      known = current
      matches = routeMatcher(current ?? [])
    }
    const end = url.indexOf('?')
    return matches(method, end === -1 ? url : url.slice(0, end))
  }

  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url, socket } = incoming
    const { connection: _, 'keep-alive': __, expect: ___, ...kept } = incoming.headers
    const headers = { ...kept, [PEER_HEADER]: `${secret} ${socket.remoteAddress}` }
    const sent = send({ host: '127.0.0.1', port, method, path: url, headers, agent }, (answer) => {
      const { connection: _, 'keep-alive': __, ...rest } = answer.headers
      if (stopping.aborted) outgoing.shouldKeepAlive = false
      outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, rest)
      // A stream of events may have no data for long.
      outgoing.flushHeaders()
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    sent.on('error', (error) => {
      if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
      const id = nextId()
      log.warn({ err: error, correlation_id: id }, 'forwarding a request failed')
      const body = errorBody(new ApiError(503, 'Service unavailable; try again'), id, true)
      outgoing
        .writeHead(503, {
          ...protection,
          'x-correlation-id': id,
          'content-type': 'application/json; charset=utf-8',
          'retry-after': '1',
        })
        .end(JSON.stringify(body))
    })
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) sent.destroy()
    })
    incoming.pipe(sent)
  }

  app.server.removeAllListeners('request')
  app.server.on('request', (incoming, outgoing) => {
    if (isForwarded(incoming)) forward(incoming, outgoing)
    else handle?.call(app.server, incoming, outgoing)
  })
  app.addHook('onClose', async () => agent.destroy())
}

/** Tells whether a method and path belong to one of the routes. */
export function routeMatcher(routes: readonly ForwardedRoute[]) {
  const exact = new Set<string>()
  const patterns: RegExp[] = []
  for (const { method, url } of routes) {
    const text = `${method} ${url}`
    if (/[:*]/.test(url)) patterns.push(patternOf(text))
    else exact.add(text)
  }
  return (method: string, path: string): boolean => {
    const text = `${method} ${path}`
    return exact.has(text) || patterns.some((pattern) => pattern.test(text))
  }
}

const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*/g, '.*')}$`,
  )
