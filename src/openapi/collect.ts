import type { FastifyInstance, FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import type { Auth } from '../access/labels.ts'
import type { DescribedError } from '../errors.ts'
import type { Deprecation } from '../http/deprecation.ts'

/** The parts of a route that the API description uses. */
export interface DescribedRoute {
  method: string
  url: string
  auth: Auth
  schema: FastifySchema & { response?: Record<string, TSchema> }
  errors: DescribedError[]
  throttled: boolean
  downstream: string | undefined
  validation: 'handler' | undefined
  deprecated: Deprecation | undefined
  totalCount: boolean
}

/** Collects routes as they are registered, except those with `hide`. */
export function collectRoutes(app: FastifyInstance): DescribedRoute[] {
  const routes: DescribedRoute[] = []
  app.addHook('onRoute', ({ method, url, schema, config = {} }) => {
    for (const one of [method].flat()) {
      if (one === 'HEAD' || !config.auth || schema?.hide) continue
      routes.push({
        method: one.toLowerCase(),
        url,
        auth: config.auth,
        schema: (schema ?? {}) as DescribedRoute['schema'],
        errors: (config.errors ?? []).map(({ described }) => described),
        throttled: config.throttled ?? false,
        downstream: config.downstream,
        validation: config.validation,
        deprecated: config.deprecated,
        totalCount: config.totalCount ?? false,
      })
    }
  })
  return routes
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Errors of the route beyond those that its auth label and schemas imply. */
    errors?: { described: DescribedError }[]
    /** Failed attempts are counted and lead to 429. */
    throttled?: boolean
    /** Message of the 503 when the server behind this route is unavailable. */
    downstream?: string
    /** The answer is a page without `pagination`; the header X-Total-Count counts all rows. */
    totalCount?: boolean
  }
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    produces?: string[]
    hide?: boolean
  }
}
