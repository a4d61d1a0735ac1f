import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const REQUEST_HEADERS =
  'Content-Type, Authorization, X-API-Key, X-CSRF-Token, Idempotency-Key, X-Client-Platform'
const EXPOSED = 'X-Correlation-Id, Idempotency-Replayed, Retry-After, Deprecation, Sunset'

/** What protects browsers from answers that are not theirs to show, keep or guess about. */
export const protectiveHeaders = (config: Config): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-site',
  'cache-control': 'no-store',
  ...(config.SVC_PUBLIC_URL?.startsWith('https:') && {
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
  }),
})

/** On every response: the correlation id, what protects browsers, and CORS for configured origins. */
export function useHeaders(app: FastifyInstance, config: Config): void {
  const protection = protectiveHeaders(config)
  const origins = new Set(config.SVC_CORS_ORIGINS)

  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(protection)
    reply.header('x-correlation-id', request.id)
    if (origins.size === 0) return next()
    reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !origins.has(origin)) return next()
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': EXPOSED,
    })
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
      reply.headers({
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': '600',
      })
      return reply.code(204).send()
    }
    next()
  })
}
