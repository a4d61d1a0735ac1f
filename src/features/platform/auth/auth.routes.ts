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
import { SessionParams, SessionRevoked } from '../sessions/sessions.schemas.ts'
import { SessionNotFound } from '../sessions/sessions.service.ts'
import * as shapes from './auth.schemas.ts'
import { AlreadyEnrolled, NotEnrolled, type OperatorAuthService } from './auth.service.ts'

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

    app.post('/mfa/backup-codes', {
      config: {
        auth: operator('support'),
        errors: [InvalidLogin, InvalidMfaCode, NotEnrolled],
        throttled: true,
      },
      schema: {
        operationId: 'renew_operator_backup_codes',
        summary: 'Get new backup codes against the password or a current code',
        body: shapes.BackupCodesBody,
        response: { 200: Success(shapes.BackupCodes) },
      },
      handler: async ({ caller, body }) =>
        success('Backup codes replaced', await auth.renewBackupCodes(caller, body)),
    })

    app.get('/sessions', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_own_operator_sessions',
        summary: 'List the own live sessions, newest first',
        response: { 200: Success(shapes.OwnSessions) },
      },
      handler: async ({ caller }) => success('Sessions retrieved', await auth.sessions(caller)),
    })

    app.delete('/sessions/:session_id', {
      config: { auth: operator('support'), errors: [SessionNotFound] },
      schema: {
        operationId: 'revoke_own_operator_session',
        summary: 'End one of the own sessions',
        params: SessionParams,
        response: { 200: Success(SessionRevoked) },
      },
      handler: async ({ caller, params }) =>
        success('Session revoked', await auth.endSession(caller, params.session_id)),
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
