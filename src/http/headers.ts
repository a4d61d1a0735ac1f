import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/index.ts'

/** Headers that keep browsers from framing, caching or sniffing responses. */
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

/** Sets the protective headers and the correlation id on every response. */
export function useHeaders(app: FastifyInstance, protection: Record<string, string>): void {
  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(protection)
    reply.header('x-correlation-id', request.id)
    next()
  })
}

/** CORS for the configured origins; other origins get no header but `Vary`. */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]) {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  await app.register(cors, {
    delegator: ({ headers }, done) =>
      done(null, {
        origin: allowed.has(headers.origin ?? '') && headers.origin,
        credentials: true,
        exposedHeaders: [
          'X-Correlation-Id',
          'X-Total-Count',
          'X-Ignored-Parameters',
          'X-Ignored-Fields',
          'Idempotency-Replayed',
          'Retry-After',
          'Deprecation',
          'Sunset',
        ],
        // An OPTIONS request without this header asks what the path accepts.
        preflight: headers['access-control-request-method'] !== undefined,
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        allowedHeaders: [
          'Content-Type',
          'Authorization',
          'X-API-Key',
          'X-CSRF-Token',
          'Idempotency-Key',
          'X-Client-Platform',
          'X-Session',
        ],
        maxAge: 600,
      }),
  })
}
