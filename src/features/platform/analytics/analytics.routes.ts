import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as shapes from './analytics.schemas.ts'
import type { PlatformAnalyticsService } from './analytics.service.ts'

export const platformAnalyticsRoutes =
  (analytics: PlatformAnalyticsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/overview', {
      config: { auth: operator('support'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'platform_analytics_overview',
        summary: 'Mail of all organizations over time, and the domains that send the most',
        querystring: shapes.OverviewQuery,
        response: { 200: Success(shapes.AnalyticsOverview) },
      },
      handler: async ({ query }) =>
        success('Platform analytics overview retrieved', await analytics.overview(query)),
    })

    app.get('/growth', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'platform_growth',
        summary: 'Number of organizations, domains and mailboxes over time',
        querystring: shapes.GrowthQuery,
        response: { 200: Success(shapes.Growth) },
      },
      handler: async ({ query }) =>
        success('Platform growth series retrieved', await analytics.growth(query)),
    })

    app.get('/heatmap', {
      config: { auth: operator('support'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'platform_send_heatmap',
        summary: 'Sent mail by weekday and hour (UTC)',
        querystring: shapes.HeatmapQuery,
        response: { 200: Success(shapes.Heatmap) },
      },
      handler: async ({ query }) =>
        success('Outbound send heatmap retrieved', await analytics.heatmap(query)),
    })
  }
