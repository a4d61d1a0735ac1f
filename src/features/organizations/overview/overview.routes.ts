import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { OrganizationNotFound } from '../organizations.errors.ts'
import { OrganizationParams } from '../organizations.schemas.ts'
import { OrganizationOverview, OVERVIEW_DAYS, OverviewQuery } from './overview.schemas.ts'
import type { OverviewService } from './overview.service.ts'

export const overviewRoutes =
  (overview: OverviewService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:organization_id/overview', {
      config: { auth: key('read'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'get_organization_overview',
        summary: 'Mail by day, storage, and what needs attention in an organization',
        params: OrganizationParams,
        querystring: OverviewQuery,
        response: { 200: Success(OrganizationOverview) },
      },
      handler: async ({ caller, params, query: { days = OVERVIEW_DAYS, ...query } }) =>
        success(
          'Overview retrieved',
          await overview.get(caller, params.organization_id, { ...query, days }),
        ),
    })
  }
