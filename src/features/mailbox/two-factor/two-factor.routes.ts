import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import * as errors from './two-factor.errors.ts'
import * as shapes from './two-factor.schemas.ts'
import type { TwoFactorService } from './two-factor.service.ts'

export const twoFactorRoutes =
  (twoFactor: TwoFactorService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/two-factor', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_two_factor',
        summary: 'State of the second factor of the own login',
        response: { 200: Success(shapes.TwoFactorStatus) },
      },
      handler: async ({ caller }) =>
        success('Two-factor status retrieved successfully', await twoFactor.status(caller)),
    })

    app.post('/two-factor/setup', {
      config: { auth: mailboxSession(), errors: [errors.TwoFactorEnabled] },
      schema: {
        operationId: 'mailbox_two_factor_setup',
        summary: 'Begin to set up a second factor',
        response: { 200: Success(shapes.Setup) },
      },
      handler: async ({ caller }) =>
        success('Scan the code, then confirm it', await twoFactor.setUp(caller)),
    })

    app.post('/two-factor/confirm', {
      config: {
        auth: mailboxSession(),
        errors: [errors.InvalidTwoFactorCode, errors.TwoFactorEnabled, errors.TwoFactorNotBegun],
        throttled: true,
      },
      schema: {
        operationId: 'mailbox_two_factor_confirm',
        summary: 'Enable the second factor with its first code',
        body: shapes.ConfirmBody,
        response: { 200: Done },
      },
      handler: async ({ caller, body }) => {
        await twoFactor.confirm(caller, body.code)
        return done('Two-factor authentication enabled')
      },
    })

    app.delete('/two-factor', {
      config: {
        auth: mailboxSession(),
        errors: [errors.InvalidTwoFactorCode, errors.TwoFactorNotEnabled],
        throttled: true,
      },
      schema: {
        operationId: 'mailbox_two_factor_disable',
        summary: 'Disable the second factor; needs a current code',
        body: shapes.DisableBody,
        response: { 200: Done },
      },
      handler: async ({ caller, body }) => {
        await twoFactor.disable(caller, body.two_factor_code)
        return done('Two-factor authentication disabled')
      },
    })
  }
