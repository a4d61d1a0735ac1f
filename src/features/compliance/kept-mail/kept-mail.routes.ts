import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Success, success } from '../../../http/envelope.ts'
import { MailboxNotFound, NothingKept } from '../compliance.errors.ts'
import { Reason, UserParams } from '../compliance.schemas.ts'
import type { KeptMailService } from './kept-mail.service.ts'

const kept = {
  user_email: Type.String(),
  messages: Type.Integer(),
  folders: Type.Array(
    Type.Object({
      folder: Type.String({ description: 'The folder from which the messages were expunged' }),
      messages: Type.Integer(),
      bytes: Type.Integer(),
    }),
  ),
}
const KeptMail = Type.Object(kept, { title: 'KeptMail' })
const RestoredMail = Type.Object(
  { ...kept, restored_to: Type.String({ examples: ['Recovered'] }) },
  { title: 'RestoredMail' },
)

export const keptMailRoutes =
  (keptMail: KeptMailService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/kept-mail/:user_email', {
      config: { auth: operator('admin'), errors: [MailboxNotFound] },
      schema: {
        operationId: 'get_kept_mail',
        summary: 'Count the messages that a legal hold keeps after their holder expunged them',
        params: UserParams,
        response: { 200: Success(KeptMail) },
      },
      handler: async ({ params }) =>
        success('Kept mail retrieved', await keptMail.list(params.user_email)),
    })

    app.post('/kept-mail/:user_email/restore', {
      config: { auth: operator('owner'), errors: [MailboxNotFound, NothingKept] },
      schema: {
        operationId: 'restore_kept_mail',
        summary: 'Copy the kept messages to the folder Recovered of the mailbox',
        params: UserParams,
        body: Body({ reason: Reason }),
        response: { 200: Success(RestoredMail) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Kept mail restored',
          await keptMail.restore(caller, params.user_email, body.reason),
        ),
    })
  }
