import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  ApiError,
  DatabaseAway,
  DatabaseUnavailable,
  InvalidRequest,
  NoDataProvided,
  ServiceUnavailable,
  TooMuchWork,
  WorkersBusy,
} from '../errors.ts'
import { OutOfTime, PoolBusy } from '../lib/worker-pool.ts'
import { IGNORED_FIELDS } from './ignored-names.ts'

const away = new WeakSet<FastifyRequest>()

/** Returns whether the request failed because the database is away. */
export const failedWithoutDatabase = (request: FastifyRequest): boolean => away.has(request)

/** Sends every error in one of the documented shapes, with the correlation id. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError | ApiError | Error, request, reply) => {
    const apiError = asApiError(error, request)
    if (error instanceof DatabaseUnavailable) {
      away.add(request)
      const { code, message } = error
      request.log.warn(
        { code, reason: message, correlation_id: request.id },
        'database unavailable',
      )
    }
    if (!apiError) {
      request.log.error({ err: error, correlation_id: request.id }, 'request failed unexpectedly')
    }
    // Closing while the client sends resets the connection, and a proxy then answers 502 instead.
    if (apiError?.status === 413) reply.removeHeader('connection')
    const known = apiError && withIgnored(apiError, reply)
    return sendError(reply, request, known ?? new ApiError(500, 'Internal server error'))
  })
}

/** A body of unknown fields alone has no data; the answer says which fields they are. */
function withIgnored(error: ApiError, reply: FastifyReply): ApiError {
  const names = reply.getHeader(IGNORED_FIELDS)
  if (!(error instanceof NoDataProvided) || typeof names !== 'string') return error
  const errors = names.split(', ').map((name) => `Unknown field: ${decodeURIComponent(name)}`)
  return new ApiError(error.status, error.message, { data: { errors } })
}

export function sendError(reply: FastifyReply, request: FastifyRequest, error: ApiError) {
  if (error.headers) reply.headers(error.headers)
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(error, request.id, isInternalRoute(request)))
}

const isInternalRoute = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions?.config?.auth?.kind === 'internal'

export const errorBody = (error: ApiError, correlationId: string, toService = false) => ({
  type: 'error',
  msg: error.message,
  ...(error.code !== undefined && { error_code: error.code }),
  ...(error.data !== undefined && { data: error.data }),
  ...(error instanceof InvalidRequest && { detail: error.detail }),
  ...((toService || error instanceof ServiceUnavailable) && { error: error.message }),
  ...error.fields,
  correlation_id: correlationId,
})

function asApiError(error: FastifyError | ApiError | Error, request: FastifyRequest) {
  if (error instanceof ApiError) return error
  if (error instanceof DatabaseUnavailable) return new DatabaseAway()
  if (error instanceof OutOfTime) return new TooMuchWork()
  if (error instanceof PoolBusy) return new WorkersBusy()
  const { code, statusCode } = error as FastifyError
  if (statusCode === undefined || statusCode >= 500) return undefined
  const byHandler = request.routeOptions.config.validation === 'handler'
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError(413, 'Request body is too large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError(415, 'Send the body as application/json')
    case 'INVALID_JSON':
      return byHandler
        ? new (request.routeOptions.config.invalidJson ?? NoDataProvided)()
        : new InvalidRequest([{ loc: ['body'], msg: error.message, type: 'json_invalid' }])
    default:
      return new ApiError(
        statusCode,
        statusCode === 400 ? error.message : (STATUS_CODES[statusCode] ?? 'Bad request'),
      )
  }
}
