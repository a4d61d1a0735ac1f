import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import { EmailAccountNotFound } from '../mailboxes.errors.ts'
import { AccountParams } from '../mailboxes.schemas.ts'
import type { HolderTwoFactorService } from './two-factor.service.ts'

const HolderTwoFactor = Type.Object({
  account_id: Type.String(),
  enabled: Type.Boolean(),
  enabled_at: Nullable(Timestamp),
  backup_codes_left: Type.Integer(),
})

const HolderTwoFactorReset = Type.Object({
  account_id: Type.String(),
  two_factor_cleared: Type.Boolean({ description: 'A second factor was enrolled' }),
  sessions_revoked: Type.Integer(),
})

export const holderTwoFactorRoutes =
  (twoFactor: HolderTwoFactorService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/email-accounts/:account_id/two-factor', {
      config: { auth: key('read'), errors: [EmailAccountNotFound] },
      schema: {
        operationId: 'get_email_account_two_factor',
        summary: "Get the state of the holder's second factor",
        params: AccountParams,
        response: { 200: Success(HolderTwoFactor) },
      },
      handler: async ({ caller, params }) =>
        success('OK', await twoFactor.status(caller, params.account_id)),
    })

    app.post('/email-accounts/:account_id/two-factor-reset', {
      config: { auth: key('write'), audited: true, errors: [EmailAccountNotFound] },
      schema: {
        operationId: 'reset_email_account_two_factor',
        summary: "Clear the holder's second factor and end the sessions",
        params: AccountParams,
        response: { 200: Success(HolderTwoFactorReset) },
      },
      handler: async ({ caller, params }) =>
        success('Second factor cleared', await twoFactor.reset(caller, params.account_id)),
    })
  }
