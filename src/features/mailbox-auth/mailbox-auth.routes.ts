import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AddressNotAllowed, InvalidLogin } from '../../access/access.errors.ts'
import { mailboxSession, none } from '../../access/labels.ts'
import { Done, done, Success, success } from '../../http/envelope.ts'
import { MailboxLoginBody, MailboxSignedIn, PLATFORMS } from './mailbox-auth.schemas.ts'
import type { MailboxAuthService } from './mailbox-auth.service.ts'

export const mailboxAuthRoutes =
  (auth: MailboxAuthService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/login', {
      config: {
        auth: none(),
        errors: [InvalidLogin, AddressNotAllowed],
        throttled: true,
        downstream: 'Mail server unavailable',
      },
      schema: {
        operationId: 'mailbox_login',
        summary: 'Sign in as the holder of a mailbox',
        description:
          'With two-factor enabled the right password alone answers `two_factor_required: true` and no session; send the code with the next try.',
        body: MailboxLoginBody,
        response: { 200: Success(MailboxSignedIn) },
      },
      handler: async (request, reply) => {
        const named = String(request.headers['x-client-platform'] ?? '').toLowerCase()
        const client = PLATFORMS.find((platform) => platform === named) ?? null
        const { cookies, data } = await auth.login(request.caller, request.body, client)
        if ('two_factor_required' in data) {
          return success('Enter the code of your authenticator application', data)
        }
        reply.header('set-cookie', cookies)
        return success('Signed in', data)
      },
    })

    app.post('/logout', {
      config: { auth: mailboxSession({ endedToo: true, oldPasswordToo: true }) },
      schema: {
        operationId: 'mailbox_logout',
        summary: 'End the mailbox session; may be repeated',
        response: { 200: Done },
      },
      handler: async (request, reply) => {
        reply.header('set-cookie', await auth.logout(request.caller))
        return done('Signed out')
      },
    })
  }
