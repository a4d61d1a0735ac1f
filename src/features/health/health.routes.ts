import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { none } from '../../access/labels.ts'
import { VERSION } from '../../version.ts'
import type { HealthService } from './health.service.ts'

const About = { service: Type.String(), version: Type.String() }
const Problem = { error: Type.String(), correlation_id: Type.String() }

const Health = (status: string, database: string) =>
  Type.Object({
    status: Type.Literal(status),
    ...About,
    database: Type.Literal(database),
  })

export const healthRoutes =
  (health: HealthService, service: string): FastifyPluginAsyncTypebox =>
  async (app) => {
    const about = { service, version: VERSION }

    app.get('/health', {
      config: { auth: none() },
      schema: {
        operationId: 'health',
        summary: 'Health of the service and its database',
        response: {
          200: Health('healthy', 'connected'),
          503: Type.Object({ ...Health('unhealthy', 'failed').properties, ...Problem }),
        },
      },
      handler: async (request, reply) => {
        if (await health.databaseAnswers()) {
          return { status: 'healthy', ...about, database: 'connected' }
        }
        return reply.code(503).send({
          status: 'unhealthy',
          ...about,
          database: 'failed',
          error: 'The database does not answer',
          correlation_id: request.id,
        })
      },
    })

    app.get('/livez', {
      config: { auth: none() },
      schema: {
        operationId: 'livez',
        summary: 'Liveness of the process; no other part is asked',
        response: { 200: Type.Object({ status: Type.Literal('alive'), ...About }) },
      },
      handler: async () => ({ status: 'alive' as const, ...about }),
    })

    app.get('/readyz', {
      config: { auth: none() },
      schema: {
        operationId: 'readyz',
        summary: 'Readiness of the process for requests from a load balancer',
        response: {
          200: Type.Object({ status: Type.Literal('ready'), ...About }),
          503: Type.Object({ status: Type.Literal('not ready'), ...About, ...Problem }),
        },
      },
      handler: async (request, reply) => {
        const error = await health.whyNotReady()
        if (error === undefined) return { status: 'ready' as const, ...about }
        return reply
          .code(503)
          .send({ status: 'not ready', ...about, error, correlation_id: request.id })
      },
    })
  }
