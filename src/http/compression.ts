import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Smaller answers gain less than the work costs. */
const MIN_BYTES = 1024
/** Larger answers are sent as they are, so that one request does not fill the memory twice. */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * Compresses JSON answers for callers that accept gzip. The work runs in the thread pool. Only answers
 * to GET are compressed: secrets that are shown once are in answers to writes, and the size of a
 * compressed answer can reveal a secret in it.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, next) => {
    if (!isCompressible(request, reply, payload)) return next(null, payload)
    reply.header('vary', varyWith(reply.getHeader('vary')))
    if (!acceptsGzip(request.headers['accept-encoding'])) return next(null, payload)
    gzip(payload, (error, compressed) => {
      if (error) return next(null, payload)
      reply.header('content-encoding', 'gzip')
      next(null, compressed)
    })
  })
}

const isCompressible = (
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): payload is string =>
  request.method === 'GET' &&
  typeof payload === 'string' &&
  payload.length >= MIN_BYTES &&
  payload.length <= MAX_BYTES &&
  !reply.hasHeader('content-encoding') &&
  String(reply.getHeader('content-type') ?? '').startsWith('application/json')

const acceptsGzip = (header: string | string[] | undefined): boolean =>
  String(header ?? '')
    .split(',')
    .some((entry) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(entry))

const varyWith = (before: unknown): string =>
  before === undefined ? 'Accept-Encoding' : `${before}, Accept-Encoding`
