import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import * as shapes from './analytics.schemas.ts'
import type { AnalyticsService } from './analytics.service.ts'

const config = { auth: key('read'), errors: [DomainNotFound] }
const input = { params: shapes.DomainParams, querystring: shapes.PeriodQuery }

export const analyticsRoutes =
  (analytics: AnalyticsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/dashboard/:domain', {
      config,
      schema: {
        operationId: 'get_domain_dashboard',
        summary: 'Delivery results, opens and clicks of a domain',
        ...input,
        response: { 200: Success(shapes.Dashboard) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Dashboard retrieved',
          await analytics.view('dashboard', caller, params.domain, query),
        ),
    })

    app.get('/email-volume/:domain', {
      config,
      schema: {
        operationId: 'get_email_volume',
        summary: 'Mail of a domain by day, in both directions',
        ...input,
        response: { 200: Success(shapes.EmailVolume) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Email volume retrieved',
          await analytics.view('email-volume', caller, params.domain, query),
        ),
    })

    app.get('/engagement/:domain', {
      config,
      schema: {
        operationId: 'get_domain_engagement',
        summary: 'Rates of opens and clicks of the mail of a domain',
        ...input,
        response: { 200: Success(shapes.Engagement) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Engagement retrieved',
          await analytics.view('engagement', caller, params.domain, query),
        ),
    })

    app.get('/deliverability/:domain', {
      config,
      schema: {
        operationId: 'get_domain_deliverability',
        summary: 'Rates of bounces and complaints of the mail of a domain',
        ...input,
        response: { 200: Success(shapes.Deliverability) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Deliverability retrieved',
          await analytics.view('deliverability', caller, params.domain, query),
        ),
    })

    app.get('/metrics/:domain', {
      config,
      schema: {
        operationId: 'get_domain_metrics',
        summary: 'The dashboard of a domain with its storage and mailboxes',
        ...input,
        response: { 200: Success(shapes.Metrics) },
      },
      handler: async ({ caller, params, query }) =>
        success('Metrics retrieved', await analytics.view('metrics', caller, params.domain, query)),
    })

    app.get('/health', {
      config: { auth: key('read'), downstream: 'Analytics service unavailable' },
      schema: {
        operationId: 'get_analytics_health',
        summary: 'Health of the access to the figures',
        response: { 200: Success(shapes.Health) },
      },
      handler: async () => success('Analytics is healthy', await analytics.health()),
    })
  }
