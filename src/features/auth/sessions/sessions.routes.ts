import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DashboardSessionRequired } from '../../../access/access.errors.ts'
import { dashboardSession } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import type { UserAccessService } from '../../users/user-access.service.ts'
import { UserSessionNotFound } from '../../users/users.errors.ts'
import { SessionsRevoked, UserSession } from '../../users/users.schemas.ts'

/** A user's own sessions; those of other users are under /users. */
export const ownSessionRoutes =
  (access: UserAccessService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: dashboardSession(), errors: [DashboardSessionRequired] },
      schema: {
        operationId: 'list_own_sessions',
        summary: 'List the own live sessions, newest first',
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(UserSession)) },
      },
      handler: async ({ caller, query }) =>
        success('Sessions retrieved', await access.listSessions(caller, caller.id, pageOf(query))),
    })

    app.delete('/:session_id', {
      config: {
        auth: dashboardSession(),
        errors: [DashboardSessionRequired, UserSessionNotFound],
      },
      schema: {
        operationId: 'revoke_own_session',
        summary: 'End one of the own sessions',
        params: Type.Object({ session_id: Type.String() }),
        response: { 200: Success(SessionsRevoked) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Session revoked',
          await access.revokeSession(caller, caller.id, params.session_id),
        ),
    })
  }
