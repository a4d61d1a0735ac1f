import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { MetricsRefused, MetricsUnavailable } from './metrics.errors.ts'
import { MetricsRange, RangeQuery } from './metrics.schemas.ts'
import type { MetricsService } from './metrics.service.ts'

export const metricsRoutes =
  (metrics: MetricsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/range', {
      config: { auth: operator('support'), errors: [MetricsUnavailable, MetricsRefused] },
      schema: {
        operationId: 'metrics_range',
        summary: 'A metric over the last hours',
        querystring: RangeQuery,
        response: { 200: Success(MetricsRange) },
      },
      handler: async ({ query: { query, hours = 24, step } }) =>
        success('Metrics range retrieved', await metrics.range(query, hours, step)),
    })
  }
