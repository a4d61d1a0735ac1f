import type { Socket } from 'node:net'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { useBootstrapGate, useGuard } from '../access/guard.ts'
import { none } from '../access/labels.ts'
import type { Core } from '../core.ts'
import { ApiError } from '../errors.ts'
import { sequentialIds } from '../lib/ulid.ts'
import type { Log } from '../log.ts'
import { serveDescription } from '../openapi/serve.ts'
import { useAudit } from './audit.ts'
import { useDeprecation } from './deprecation.ts'
import { errorBody, handleErrors, sendError } from './error-handler.ts'
import { useHeaders } from './headers.ts'
import { useIdempotency } from './idempotency.ts'
import { readJsonBodies } from './json-body.ts'
import type { Metrics } from './metrics.ts'
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
    clientErrorHandler(error, socket) {
      refuseGarbage(error, socket, nextId())
    },
    frameworkErrors(_error, request, reply: FastifyReply) {
      reply.header('x-correlation-id', request.id)
      return sendError(
        reply,
        request,
        new ApiError(400, 'The address of this request is malformed'),
      )
    },
  })

  app.decorateRequest('rawBody')
  readJsonBodies(app)
  useSchemas(app)
  useDeprecation(app)
  handleErrors(app)
  handleNotFound(app)

  useHeaders(app, core.config)
  useGuard(app, core)
  useIdempotency(app, core)
  useBootstrapGate(app, core)
  useAudit(app, core)

  app.addHook('onResponse', (request, reply, next) => {
    const { url: path = 'unmatched', config } = request.routeOptions
    const service = byName.get(config.service ?? '') ?? services[0]
    service.metrics.observe(request.method, path, reply.statusCode, reply.elapsedTime / 1000)
    service.log.info(requestLine(request, reply, path), 'request')
    next()
  })

  serveDescription(app)
  if (core.config.SVC_EDITION === 'enterprise') serveMetrics(app, services)
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

const requestLine = (request: FastifyRequest, reply: FastifyReply, path: string) => ({
  correlation_id: request.id,
  method: request.method,
  path,
  status: reply.statusCode,
  ms: Math.round(reply.elapsedTime * 100) / 100,
  ip: request.caller.ip,
  ...(request.caller.kind !== 'anonymous' && {
    caller: `${request.caller.kind}:${request.caller.id}`,
  }),
})

function serveMetrics(app: FastifyInstance, services: Service[]): void {
  app.get('/metrics', {
    config: { auth: none() },
    schema: {
      operationId: 'metrics',
      summary: 'Metrics of the services on this listener, for a scraper',
      produces: ['text/plain'],
    },
    handler: async (_request, reply) => {
      const pages = await Promise.all(services.map(({ metrics }) => metrics.render()))
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(pages.join(''))
    },
  })
}

/** What is not even HTTP still gets an answer, with a correlation id to ask about. */
function refuseGarbage(error: Error & { code?: string }, socket: Socket, id: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  const text = status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'
  const body = JSON.stringify(errorBody(new ApiError(status, text), id))
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Correlation-Id: ${id}\r\nConnection: close\r\n\r\n${body}`,
  )
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The daemon a route belongs to. */
    service?: string
  }
}
