import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { Suppression, SuppressionQuery } from '../tracking.schemas.ts'
import type { SuppressionService } from './suppressions.service.ts'

export const suppressionRoutes =
  (suppressions: SuppressionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_own_suppressions',
        summary: 'Suppressed addresses of the organization, newest first',
        description:
          'A tenant sees its own. A platform caller names one organization, or sees those of all.',
        querystring: SuppressionQuery,
        response: { 200: Success(Paginated(Suppression)) },
      },
      handler: async ({ caller, query: { page, per_page, ...filter } }) =>
        success(
          'Suppressions retrieved',
          await suppressions.listFor(
            caller,
            filter,
            pageOf({ ...(page && { page }), ...(per_page && { per_page }) }),
          ),
        ),
    })
  }
