import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import * as errors from './monitoring.errors.ts'
import * as shapes from './monitoring.schemas.ts'
import type { MonitoringService } from './monitoring.service.ts'

const { MonitoringSilent, NotRestartable, RestartFailed, UnknownService, UrlNotConfigured } = errors

/** Failures carry `error` and `timestamp` beside the envelope. */
export const monitoringRoutes =
  (monitoring: MonitoringService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/health', {
      config: { auth: operator('support'), errors: [MonitoringSilent] },
      schema: {
        operationId: 'health_check',
        summary: 'Health of the monitoring itself',
        response: { 200: Success(shapes.MonitoringHealth) },
      },
      handler: async () => success('Monitoring health retrieved', await monitoring.health()),
    })

    app.get('/services', {
      config: { auth: operator('support'), errors: [MonitoringSilent] },
      schema: {
        operationId: 'get_services_status',
        summary: 'Every service as it was found last',
        response: { 200: Success(shapes.Heartbeat) },
      },
      handler: async () => success('Services retrieved', await monitoring.services()),
    })

    app.get('/services/:service_name', {
      config: { auth: operator('support'), errors: [MonitoringSilent, UnknownService] },
      schema: {
        operationId: 'get_service_status',
        summary: 'One service as it was found last',
        params: shapes.ServiceParams,
        response: { 200: Success(shapes.OneService) },
      },
      handler: async ({ params }) =>
        success('Service retrieved', await monitoring.service(params.service_name)),
    })

    app.get('/metrics', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'get_system_metrics',
        summary: 'Current state of this host and its mail',
        response: { 200: Success(shapes.SystemMetrics) },
      },
      handler: async () => success('Metrics retrieved', await monitoring.metrics()),
    })

    app.get('/stats', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'get_dashboard_stats',
        summary: 'Host, mail and services in figures',
        response: { 200: Success(shapes.Statistics) },
      },
      handler: async () => success('Statistics retrieved', await monitoring.stats()),
    })

    app.post('/services/:service_name/restart', {
      config: {
        auth: operator('operator'),
        errors: [MonitoringSilent, UnknownService, NotRestartable, RestartFailed],
      },
      schema: {
        operationId: 'restart_service',
        summary: 'Restart a service that runs beside this process',
        params: shapes.ServiceParams,
        body: shapes.RestartRequest,
        response: { 200: Success(shapes.Restarted) },
      },
      handler: async ({ caller, params, body }) =>
        success('Service restarted', await monitoring.restart(caller, params.service_name, body)),
    })

    app.post('/auto-heal', {
      config: { auth: operator('operator'), errors: [MonitoringSilent, UnknownService] },
      schema: {
        operationId: 'trigger_auto_heal',
        summary: 'Restart what is down and can be restarted from here',
        body: shapes.HealRequest,
        response: { 200: Success(shapes.Healed) },
      },
      handler: async ({ caller, body }) =>
        success('Auto-heal completed', await monitoring.autoHeal(caller, body)),
    })

    app.post('/webhooks/test', {
      config: { auth: operator('operator'), errors: [UrlNotConfigured] },
      schema: {
        operationId: 'test_webhooks',
        summary: 'Post a test to addresses that are configured',
        body: shapes.WebhookTest,
        response: { 200: Success(shapes.WebhooksTested) },
      },
      handler: async ({ body }) => success('Webhooks tested', await monitoring.testWebhooks(body)),
    })
  }
