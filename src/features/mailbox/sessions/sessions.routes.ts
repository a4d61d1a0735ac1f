import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { MailboxSessionNotFound, type MailboxSessionService } from './sessions.service.ts'

const MailboxSession = Type.Object(
  {
    id: Type.String(),
    ip_address: Type.String({ examples: ['192.0.2.7'] }),
    user_agent: Nullable(Type.String()),
    client_platform: Nullable(Type.String({ examples: ['web'] })),
    created_at: Timestamp,
    expires_at: Timestamp,
    absolute_expiry: Timestamp,
    is_current: Type.Boolean({ description: 'The session of this request' }),
  },
  { title: 'MailboxSession' },
)
const Revoked = Type.Object({
  revoked: Type.Integer({ description: 'Sessions that this call ended' }),
})

/** The holder's own sign-ins; mail programs have none, they send the password each time. */
export const mailboxSessionRoutes =
  (sessions: MailboxSessionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/sessions', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_sessions',
        summary: 'List the own live sessions, newest first',
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(MailboxSession)) },
      },
      handler: async ({ caller, query }) =>
        success('Sessions retrieved', await sessions.list(caller, pageOf(query))),
    })

    app.delete('/sessions/:session_id', {
      config: { auth: mailboxSession(), errors: [MailboxSessionNotFound] },
      schema: {
        operationId: 'revoke_mailbox_session',
        summary: 'End one of the own sessions',
        params: Type.Object({ session_id: Type.String() }),
        response: { 200: Success(Revoked) },
      },
      handler: async ({ caller, params }) =>
        success('Session revoked', await sessions.revoke(caller, params.session_id)),
    })
  }
