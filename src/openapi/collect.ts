import type { FastifyInstance, FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import type { Auth } from '../access/labels.ts'
import type { DescribedError } from '../errors.ts'
import type { Deprecation } from '../http/deprecation.ts'

/** A route as the API description sees it. */
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
}

/** Gathers routes as they are registered; those that are not part of the API say `hide`. */
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
      })
    }
  })
  return routes
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What can go wrong, by name, beyond what the label and the schemas imply. */
    errors?: { described: DescribedError }[]
    /** Failed attempts are counted; 429 closes the door. */
    throttled?: boolean
    /** Message of the 503 when the server behind this route is away. */
    downstream?: string
  }
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    produces?: string[]
    hide?: boolean
  }
}
