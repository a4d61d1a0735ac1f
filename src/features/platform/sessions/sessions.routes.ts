import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { LiveSessions, Reason, SessionParams, SessionRevoked } from './sessions.schemas.ts'
import { type OperatorSessionService, SessionNotFound } from './sessions.service.ts'

export const operatorSessionRoutes =
  (sessions: OperatorSessionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('owner') },
      schema: {
        operationId: 'list_all_sessions',
        summary: 'List live sessions of all operators, newest first',
        response: { 200: Success(LiveSessions) },
      },
      handler: async ({ caller }) =>
        success('Live operator sessions retrieved', await sessions.listLive(caller)),
    })

    app.delete('/:session_id', {
      config: { auth: operator('owner'), errors: [SessionNotFound] },
      schema: {
        operationId: 'revoke_session',
        summary: 'End one operator session',
        params: SessionParams,
        body: Reason,
        response: { 200: Success(SessionRevoked) },
      },
      handler: async ({ caller, params }) =>
        success('Session revoked', await sessions.revoke(caller, params.session_id)),
    })
  }
