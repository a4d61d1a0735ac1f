import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { none } from '../../access/labels.ts'
import { VERSION } from '../../version.ts'
import type { HealthService } from './health.service.ts'

const Health = (status: string, database: string) =>
  Type.Object({
    status: Type.Literal(status),
    service: Type.String(),
    version: Type.String(),
    database: Type.Literal(database),
  })

export const healthRoutes =
  (health: HealthService, service: string): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/health', {
      config: { auth: none() },
      schema: {
        operationId: 'health',
        summary: 'Whether the service can work',
        response: {
          200: Health('healthy', 'connected'),
          503: Type.Object({
            ...Health('unhealthy', 'failed').properties,
            error: Type.String(),
            correlation_id: Type.String(),
          }),
        },
      },
      handler: async (request, reply) => {
        const about = { service, version: VERSION }
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
  }
