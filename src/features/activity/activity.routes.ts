import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { Activity, ActivityQuery } from './activity.schemas.ts'
import type { ActivityService } from './activity.service.ts'

export const activityRoutes =
  (activity: ActivityService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_activity',
        summary: 'Activity in the organization, newest first',
        description:
          'Events, and changes that operators made. Single messages are at `/messages/`, logins to the mail servers and compliance are not listed.',
        querystring: ActivityQuery,
        response: { 200: Success(Paginated(Activity)) },
      },
      handler: async ({ caller, query }) =>
        success('Activity retrieved', await activity.list(caller, query, pageOf(query))),
    })
  }
