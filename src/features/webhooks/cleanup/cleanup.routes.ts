import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { internal } from '../../../access/labels.ts'
import { NoCleanupSettings } from './cleanup.errors.ts'
import * as schemas from './cleanup.schemas.ts'
import type { CleanupService } from './cleanup.service.ts'

export const cleanupRoutes =
  (cleanup: CleanupService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/cleanup/stats', {
      config: { auth: internal() },
      schema: {
        operationId: 'webhook_cleanup_stats',
        summary: 'Number of delivery records, and the result of the last clean-up',
        response: { 200: schemas.CleanupStats },
      },
      handler: () => cleanup.stats(),
    })

    app.get('/cleanup/config', {
      config: { auth: internal() },
      schema: {
        operationId: 'webhook_cleanup_config',
        summary: 'Settings for deleting old delivery records',
        response: { 200: schemas.CleanupConfig },
      },
      handler: () => cleanup.config(),
    })

    app.put('/cleanup/config', {
      config: { auth: internal(), errors: [NoCleanupSettings] },
      schema: {
        operationId: 'update_webhook_cleanup_config',
        summary: 'Change how old delivery records are deleted, on every daemon',
        body: schemas.CleanupChange,
        response: { 200: schemas.CleanupConfig },
      },
      handler: (request) => cleanup.update(request.caller, request.body),
    })

    app.post('/cleanup/now', {
      config: { auth: internal() },
      schema: {
        operationId: 'clean_up_webhooks',
        summary: 'Delete old delivery records at once',
        response: { 200: schemas.CleanupDone },
      },
      handler: async () => ({
        status: 'success' as const,
        message: 'Cleanup finished' as const,
        ...(await cleanup.run()),
      }),
    })
  }
