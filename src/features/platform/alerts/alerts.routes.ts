import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { alertMetrics, CHANNEL_TYPES, COMPARATORS, METRICS, SEVERITIES } from './alert-metrics.ts'
import * as shapes from './alerts.schemas.ts'
import type { HistoryService } from './history/history.service.ts'

/** Routes of the alert metrics and the alert history. */
export const alertRoutes =
  (history: HistoryService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/metrics', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_alert_metrics',
        summary: 'List the metrics that an alert rule can watch',
        response: { 200: Success(shapes.AlertMetrics) },
      },
      handler: async () =>
        success('Alert metrics retrieved', {
          items: METRICS.map((metric) => {
            const { unit, description, perOrganization } = alertMetrics[metric]
            return { metric, unit, description, per_organization: perOrganization }
          }),
          comparators: [...COMPARATORS],
          severities: [...SEVERITIES],
          channel_types: [...CHANNEL_TYPES],
        }),
    })

    app.get('/history', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_alert_history',
        summary: 'List alerts that fired, newest first',
        querystring: shapes.HistoryQuery,
        response: { 200: Success(Paginated(shapes.AlertEvent)) },
      },
      handler: async ({ query }) => {
        const { sort = 'created_at', direction = 'desc', page, per_page, ...filter } = query
        const paging = pageOf(query)
        const listed = await history.list(filter, { sort, direction }, paging)
        return success('Alert history retrieved', listed)
      },
    })
  }
