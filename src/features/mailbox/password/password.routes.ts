import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Body, Success, success } from '../../../http/envelope.ts'
import { NewPassword } from '../../mailboxes/mailboxes.schemas.ts'
import { type PasswordService, WrongPassword } from './password.service.ts'

const PasswordBody = Body({
  current_password: Type.String({ minLength: 1, maxLength: 1024 }),
  new_password: NewPassword,
})
const PasswordChanged = Type.Object({
  sessions_revoked: Type.Integer({ description: 'Other sessions of this mailbox that ended' }),
})

export const passwordRoutes =
  (passwords: PasswordService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/password', {
      config: {
        auth: mailboxSession({ oldPasswordToo: true }),
        errors: [WrongPassword],
        throttled: true,
        downstream: 'Mail server unavailable',
      },
      schema: {
        operationId: 'mailbox_password',
        summary: 'Choose a new password; every other session of the mailbox ends',
        body: PasswordBody,
        response: { 200: Success(PasswordChanged) },
      },
      handler: async ({ caller, body }) =>
        success('Password changed', await passwords.change(caller, body)),
    })
  }
