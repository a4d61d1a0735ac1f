import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastify, {
  type FastifyBaseLogger,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Caller } from '../access/caller.ts'
import { useBootstrapGate, useGuard } from '../access/guard.ts'
import type { Core } from '../core.ts'
import { ApiError } from '../errors.ts'
import { sequentialIds } from '../lib/ulid.ts'
import type { Log } from '../log.ts'
import { serveDescription } from '../openapi/serve.ts'
import { useAudit } from './audit.ts'
import { useDeprecation } from './deprecation.ts'
import { errorBody, handleErrors, sendError } from './error-handler.ts'
import { protectiveHeaders, useHeaders } from './headers.ts'
import { useIdempotency } from './idempotency.ts'
import { readJsonBodies } from './json-body.ts'
import type { Metrics } from './metrics.ts'
import { serveMetrics } from './metrics-route.ts'
import { handleNotFound } from './not-found.ts'
import { useSchemas } from './validation.ts'

const MAX_BODY_BYTES = 1024 * 1024

/** What one daemon puts on the listener. */
export interface Service {
  name: string
  log: Log
  metrics: Metrics
  features: { prefix: string; routes: FastifyPluginAsync }[]
}

/** How every request is treated, whatever it asks for. Features only add routes. */
export async function httpServer(core: Core, services: [Service, ...Service[]]) {
  const byName = new Map(services.map((service) => [service.name, service]))
  const nextId = sequentialIds('req_')
  const protection = protectiveHeaders(core.config)
  const app = fastify({
    genReqId: nextId,
    requestIdHeader: false,
    bodyLimit: MAX_BODY_BYTES,
    loggerInstance: core.log as FastifyBaseLogger,
    // One line per request, written below.
    logController: new LogController({ disableRequestLogging: true }),
    // Whoever logs about a request names its correlation id; no logger of its own is made for it.
    childLoggerFactory: (log) => log,
    requestTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // On shutdown idle connections close at once, busy ones after their answer.
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: false },
    // PostgreSQL text cannot hold NUL: an address with one is treated like a broken escape.
    rewriteUrl: ({ url = '/' }) => (url.includes('%00') ? '/%' : url),
    clientErrorHandler(error, socket) {
      const id = nextId()
      const status = refuseGarbage(error, socket, { ...protection, 'X-Correlation-Id': id }, id)
      if (status) core.log.info({ correlation_id: id, status, code: error.code }, 'not HTTP')
    },
    // No hook has seen this request, nor will one.
    frameworkErrors(_error, request, reply: FastifyReply) {
      reply.headers({ ...protection, 'x-correlation-id': request.id })
      sendError(reply, request, new ApiError(400, 'The address of this request is malformed'))
      record(request, reply, 'unmatched', 0)
    },
  })

  app.decorateRequest('rawBody')
  readJsonBodies(app)
  useSchemas(app)
  useDeprecation(app)
  handleErrors(app)
  handleNotFound(app)

  useHeaders(app, core.config)
  useGuard(app, core, { besideApi: byName.has('api') })
  useIdempotency(app, core)
  useBootstrapGate(app, core)
  useAudit(app, core)

  const record = (request: FastifyRequest, reply: FastifyReply, path: string, ms: number) => {
    const service = byName.get(request.routeOptions.config.service ?? '') ?? services[0]
    service.metrics.observe(request.method, path, reply.statusCode, ms / 1000)
    service.log.info(requestLine(request, reply, path, ms), 'request')
  }
  app.addHook('onResponse', (request, reply, next) => {
    record(request, reply, request.routeOptions.url ?? 'unmatched', reply.elapsedTime)
    next()
  })

  serveDescription(app)
  if (core.config.SVC_EDITION === 'enterprise')
    serveMetrics(
      app,
      services.map(({ metrics }) => metrics),
    )
  for (const { name, features } of services) {
    await app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, service: name }
      })
      for (const { prefix, routes } of features) await scope.register(routes, { prefix })
    })
  }
  return app
}

const requestLine = (request: FastifyRequest, reply: FastifyReply, path: string, ms: number) => {
  const { caller } = request as { caller?: Caller }
  return {
    correlation_id: request.id,
    method: request.method,
    path,
    status: reply.statusCode,
    ms: Math.round(ms * 100) / 100,
    ip: caller?.ip ?? request.ip,
    ...(caller && caller.kind !== 'anonymous' && { caller: `${caller.kind}:${caller.id}` }),
  }
}

/** What is not even HTTP still gets an answer, with a correlation id to ask about. */
function refuseGarbage(
  error: Error & { code?: string },
  socket: Socket,
  headers: Record<string, string>,
  id: string,
): number | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const status = GARBAGE[error.code ?? ''] ?? 400
  const text = STATUS_CODES[status] as string
  const body = JSON.stringify(errorBody(new ApiError(status, text), id))
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${text}\r\n${lines.join('')}\r\n${body}`)
  return status
}

const GARBAGE: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The daemon a route belongs to. */
    service?: string
  }
}
