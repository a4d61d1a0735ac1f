import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { InvalidLogin, InvalidMfaCode } from '../../../access/access.errors.ts'
import { AlreadyBootstrapped, InvalidBootstrapToken } from '../../../access/bootstrap-tokens.ts'
import type { Role } from '../../../access/caller.ts'
import {
  bootstrapToken,
  none,
  operator,
  partialOperator,
  platform,
} from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { FirstOperator } from '../operators/operators.schemas.ts'
import * as shapes from './auth.schemas.ts'
import { AlreadyEnrolled, type OperatorAuthService } from './auth.service.ts'

export const operatorAuthRoutes =
  (auth: OperatorAuthService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/bootstrap', {
      config: {
        auth: bootstrapToken('operator'),
        errors: [AlreadyBootstrapped, InvalidBootstrapToken],
      },
      schema: {
        operationId: 'operator_bootstrap',
        summary: 'Create the first operator, with role owner',
        body: FirstOperator,
        response: { 200: Success(shapes.FirstOperatorCreated) },
      },
      handler: async (request) =>
        success(
          'Operator bootstrap complete -- log in and enroll MFA next',
          await auth.bootstrap(request.caller, request.body),
        ),
    })

    app.post('/login', {
      config: { auth: none(), audited: true, errors: [InvalidLogin], throttled: true },
      schema: {
        operationId: 'operator_login',
        summary: 'First step of an operator login',
        body: shapes.LoginBody,
        response: { 200: Success(shapes.PasswordVerified) },
      },
      handler: async (request, reply) => {
        const { cookies, data } = await auth.login(request.caller, request.body)
        reply.header('set-cookie', cookies)
        return success('Password verified -- MFA required', data)
      },
    })

    app.post('/mfa/setup', {
      config: { auth: partialOperator(), errors: [AlreadyEnrolled] },
      schema: {
        operationId: 'operator_mfa_setup',
        summary: 'Start the enrollment of a second factor',
        response: { 200: Success(shapes.Enrollment) },
      },
      handler: async (request) =>
        success(
          'Scan the code, then confirm it with one token',
          await auth.setUpMfa(request.caller),
        ),
    })

    app.post('/mfa', {
      config: { auth: partialOperator(), errors: [InvalidMfaCode], throttled: true },
      schema: {
        operationId: 'operator_mfa',
        summary: 'Second step of an operator login',
        body: shapes.MfaBody,
        response: { 200: Success(shapes.MfaVerified) },
      },
      handler: async (request, reply) => {
        const { cookies, data } = await auth.verifyMfa(request.caller, request.body.token)
        reply.header('set-cookie', cookies)
        return success('MFA verified', data)
      },
    })

    app.post('/logout', {
      config: { auth: platform({ partialToo: true, endedToo: true }) },
      schema: {
        operationId: 'operator_logout',
        summary: 'End the operator session and clear its cookies; may be repeated',
        response: { 200: Done },
      },
      handler: async (request, reply) => {
        reply.header('set-cookie', await auth.logout(request.caller, request.unusableCookies))
        return done('Logged out')
      },
    })

    app.post('/password', {
      config: { auth: operator('support'), errors: [InvalidLogin], throttled: true },
      schema: {
        operationId: 'change_operator_password',
        summary: 'Change the own password; every other session ends',
        body: shapes.PasswordBody,
        response: { 200: Done },
      },
      handler: async (request) => {
        await auth.changePassword(request.caller, request.body)
        return done('Password changed')
      },
    })

    app.get('/me', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'operator_me',
        summary: 'Get the operator of the session',
        response: { 200: Success(shapes.OperatorMe) },
      },
      handler: async ({ caller }) =>
        success('OK', {
          operator_id: caller.id,
          email: caller.email ?? '',
          role: caller.role as Role,
        }),
    })
  }
