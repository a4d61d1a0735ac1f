import type { FastifyInstance } from 'fastify'
import { DAY_MS } from '../lib/time.ts'

const SIX_MONTHS_MS = 182 * DAY_MS

export interface Deprecation {
  /** Day of the deprecation, such as `2026-11-15`. */
  since: string
  /** Day of the removal, at least six months later. */
  sunset: string
  /** The route to use instead. */
  replacement: string
}

/**
 * Sends `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) for routes that declare
 * `config: { deprecated: {…} }`. The OpenAPI description marks them too.
 */
export function useDeprecation(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const deprecated = route.config?.deprecated
    if (!deprecated) return
    const since = new Date(deprecated.since)
    const sunset = new Date(deprecated.sunset)
    if (!(sunset.getTime() - since.getTime() >= SIX_MONTHS_MS)) {
      throw new Error(`${route.url}: at least six months lie between deprecation and sunset`)
    }
    const headers = {
      deprecation: `@${since.getTime() / 1000}`,
      sunset: sunset.toUTCString(),
      link: `<${deprecated.replacement}>; rel="successor-version"`,
    }
    const before = route.onRequest === undefined ? [] : [route.onRequest].flat()
    route.onRequest = [
      (_request, reply, next) => {
        reply.headers(headers)
        next()
      },
      ...before,
    ]
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecated?: Deprecation
  }
}
