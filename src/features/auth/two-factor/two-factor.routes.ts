import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DashboardSessionRequired, InvalidMfaCode } from '../../../access/access.errors.ts'
import { dashboardSession } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import * as errors from './two-factor.errors.ts'
import { CodeBody, Enrollment, TwoFactorStatus } from './two-factor.schemas.ts'
import type { UserTwoFactorService } from './two-factor.service.ts'

export const userTwoFactorRoutes =
  (twoFactor: UserTwoFactorService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: {
        auth: dashboardSession({ partialToo: true }),
        errors: [DashboardSessionRequired],
      },
      schema: {
        operationId: 'get_two_factor',
        summary: 'Get the state of the own second factor',
        response: { 200: Success(TwoFactorStatus) },
      },
      handler: async ({ caller }) => success('OK', await twoFactor.status(caller)),
    })

    app.post('/setup', {
      config: {
        auth: dashboardSession({ partialToo: true }),
        errors: [DashboardSessionRequired, errors.TwoFactorEnabled],
      },
      schema: {
        operationId: 'set_up_two_factor',
        summary: 'Start the enrollment of a second factor',
        response: { 200: Success(Enrollment) },
      },
      handler: async ({ caller }) =>
        success('Scan the code, then confirm it with one token', await twoFactor.setUp(caller)),
    })

    app.post('/verify', {
      config: {
        auth: dashboardSession({ partialToo: true }),
        errors: [
          DashboardSessionRequired,
          InvalidMfaCode,
          errors.TwoFactorEnabled,
          errors.TwoFactorNotBegun,
        ],
        throttled: true,
      },
      schema: {
        operationId: 'verify_two_factor',
        summary: 'Confirm the second factor, or give its code as the second step of a login',
        body: CodeBody,
        response: { 200: Done },
      },
      handler: async (request, reply) => {
        const cookies = await twoFactor.verify(request.caller, request.body.code)
        if (cookies.length > 0) reply.header('set-cookie', cookies)
        return done('Second factor verified')
      },
    })

    app.post('/disable', {
      config: {
        auth: dashboardSession(),
        errors: [
          DashboardSessionRequired,
          InvalidMfaCode,
          errors.TwoFactorNotEnabled,
          errors.TwoFactorRequired,
        ],
        throttled: true,
      },
      schema: {
        operationId: 'disable_two_factor',
        summary: 'Disable the own second factor',
        body: CodeBody,
        response: { 200: Done },
      },
      handler: async ({ caller, body }) => {
        await twoFactor.disable(caller, body.code)
        return done('Second factor disabled')
      },
    })
  }
