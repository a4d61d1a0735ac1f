import { createServer, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import cookies from '@fastify/cookie'
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
import { patiently } from '../database/budget.ts'
import { ApiError, MALFORMED_ADDRESS } from '../errors.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { sequentialIds } from '../lib/ulid.ts'
import type { Log } from '../log.ts'
import { serveDescription } from '../openapi/serve.ts'
import { useAudit } from './audit.ts'
import { compressAnswers } from './compression.ts'
import { useDeprecation } from './deprecation.ts'
import { errorBody, handleErrors, sendError } from './error-handler.ts'
import { allowOrigins, protectiveHeaders, useHeaders } from './headers.ts'
import { useIdempotency } from './idempotency.ts'
import { nameIgnored } from './ignored-names.ts'
import { readJsonBodies } from './json-body.ts'
import type { Metrics } from './metrics.ts'
import { serveMetrics } from './metrics-route.ts'
import { handleNotFound } from './not-found.ts'
import { refuseReadOnlyFields } from './read-only-fields.ts'
import { answerFiles, type StaticFiles } from './static-files.ts'
import { useSchemas } from './validation.ts'

const KEEP_ALIVE_MS = 72_000
const MAX_BODY_BYTES = 1024 * 1024
/** The URL under which @fastify/cors answers preflight requests. */
const PREFLIGHT_ROUTE = '*'

/** The part of the listener that belongs to one daemon. */
export interface Service {
  name: string
  log: Log
  metrics: Metrics
  features: {
    prefix: string
    routes: FastifyPluginAsync
    isPatient?: true
    files?: StaticFiles
  }[]
}

/** Differs between a process alone and one of several behind the same listener. */
export interface Surroundings {
  /** The metrics of all processes; without it those of this one. */
  metricsOfAll?: () => Promise<string>
  /** Told about each route of a feature. */
  eachRoute?: (route: { method: string; url: string }) => void
}

/** Builds the HTTP server with everything that all requests share; features add only routes. */
export async function httpServer(
  core: Core,
  services: [Service, ...Service[]],
  { metricsOfAll = () => renderAll(services), eachRoute }: Surroundings = {},
) {
  const byName = new Map(services.map((service) => [service.name, service]))
  const nextId = sequentialIds('req_')
  const protection = protectiveHeaders(core.config)
  const app = fastify({
    genReqId: nextId,
    requestIdHeader: false,
    bodyLimit: MAX_BODY_BYTES,
    loggerInstance: core.log as FastifyBaseLogger,
    // `record` below writes one line per request.
    logController: new LogController({ disableRequestLogging: true }),
    // Log calls name the correlation id themselves, so no child logger is created per request.
    childLoggerFactory: (log) => log,
    serverFactory: (handler) => {
      const needs = { protection, nextId, stopping: core.stopping }
      const answers = services.flatMap(({ metrics, features }) =>
        features.flatMap(({ files }) => (files ? [answerFiles(files, metrics, needs)] : [])),
      )
      const options = { requestTimeout: MINUTE_MS, keepAliveTimeout: KEEP_ALIVE_MS }
      return createServer(options, (request, response) => {
        if (!answers.some((answer) => answer(request, response))) handler(request, response)
      })
    },
    // On shutdown idle connections close at once, busy ones after their response.
    forceCloseConnections: 'idle',
    // A request that arrives meanwhile is answered like any other; 503 would be a wrong answer.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: false },
    // PostgreSQL text cannot hold NUL, so a URL with one is rejected as malformed.
    rewriteUrl: ({ url = '/' }) => (url.includes('%00') ? '/%' : withPathOfOutlook(url)),
    clientErrorHandler(error, socket) {
      const id = nextId()
      const status = rejectMalformed(error, socket, { ...protection, 'X-Correlation-Id': id }, id)
      if (status)
        core.log.info(
          { correlation_id: id, status, code: error.code },
          'rejected a malformed HTTP request',
        )
    },
    // Hooks do not run for such a request.
    frameworkErrors(_error, request, reply: FastifyReply) {
      reply.headers({ ...protection, 'x-correlation-id': request.id })
      sendError(reply, request, new ApiError(400, MALFORMED_ADDRESS))
      record(request, reply, 'unmatched', 0)
    },
  })

  useHeaders(app, protection)
  // Before the hooks that list routes: the plugin adds an OPTIONS route for every path.
  await allowOrigins(app, core.config.SVC_CORS_ORIGINS)
  await app.register(cookies)

  app.decorateRequest('rawBody')
  readJsonBodies(app, core)
  useSchemas(app)
  nameIgnored(app)
  refuseReadOnlyFields(app)
  useDeprecation(app)
  handleErrors(app)
  handleNotFound(app)

  useGuard(app, core)
  useIdempotency(app, core)
  useBootstrapGate(app, core)
  useAudit(app, core)
  compressAnswers(app)

  const record = (request: FastifyRequest, reply: FastifyReply, path: string, ms: number) => {
    const service = byName.get(request.routeOptions.config.service ?? '') ?? services[0]
    service.metrics.observe(request.method, path, reply.statusCode, ms / 1000)
    service.log.info(requestLine(request, reply, path, ms), 'request')
  }
  app.addHook('onResponse', (request, reply, next) => {
    const { url = 'unmatched' } = request.routeOptions
    record(request, reply, url === PREFLIGHT_ROUTE ? 'unmatched' : url, reply.elapsedTime)
    next()
  })

  app.addHook('onSend', (_request, reply, payload, next) => {
    if (core.stopping.aborted) reply.header('connection', 'close')
    next(null, payload)
  })

  serveDescription(app)
  if (core.config.SVC_EDITION === 'enterprise') serveMetrics(app, metricsOfAll)
  for (const { name, features } of services) {
    await app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, service: name }
        for (const method of [route.method].flat()) eachRoute?.({ method, url: route.url })
      })
      for (const { prefix, routes, isPatient } of features) {
        await scope.register(isPatient ? patient(routes) : routes, { prefix })
      }
    })
  }
  return app
}

/** Gives the statements of the handlers the budget of long work, with a share for each organization. */
const patient =
  (routes: FastifyPluginAsync): FastifyPluginAsync =>
  async (app, options) => {
    app.addHook('preHandler', ({ caller }, _reply, next) =>
      patiently(next, caller.organizationId ?? 'platform'),
    )
    await routes(app, options)
  }

/** The metrics of every service on a page. */
export async function renderAll(services: readonly Service[]): Promise<string> {
  return (await Promise.all(services.map(({ metrics }) => metrics.render()))).join('')
}

/** Outlook and others write this path in several cases; the router compares every letter. */
const withPathOfOutlook = (url: string): string =>
  url.replace(/^\/autodiscover\/autodiscover\.(xml|json)/i, (path) => path.toLowerCase())

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

/** Answers bytes that are not HTTP with an error body and a correlation id. */
function rejectMalformed(
  error: Error & { code?: string },
  socket: Socket,
  headers: Record<string, string>,
  id: string,
): number | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const status = STATUS_OF_ERROR[error.code ?? ''] ?? 400
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

const STATUS_OF_ERROR: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The daemon that a route belongs to. */
    service?: string
  }
}
