import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, InvalidRequest, NoDataProvided, ServiceUnavailable } from '../errors.ts'

/** Every failure leaves through here, in one of the documented shapes, with its correlation id. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError | ApiError | Error, request, reply) => {
    const known = asApiError(error, request)
    if (!known) {
      request.log.error({ err: error, correlation_id: request.id }, 'request failed unexpectedly')
    }
    return sendError(reply, request, known ?? new ApiError(500, 'Internal server error'))
  })
}

export function sendError(reply: FastifyReply, request: FastifyRequest, error: ApiError) {
  if (error.headers) reply.headers(error.headers)
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(error, request.id, speaksToServices(request)))
}

const speaksToServices = ({ routeOptions }: FastifyRequest): boolean =>
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
