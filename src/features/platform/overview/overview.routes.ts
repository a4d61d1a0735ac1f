import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Overview } from './overview.schemas.ts'
import type { OverviewService } from './overview.service.ts'

export const overviewRoutes =
  (overview: OverviewService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'platform_overview',
        summary: 'Get the state of the platform',
        response: { 200: Success(Overview) },
      },
      handler: async () => success('Platform overview retrieved', await overview.get()),
    })
  }
