import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  AddressNotAllowed,
  DashboardSessionRequired,
  InvalidLogin,
} from '../../access/access.errors.ts'
import { dashboardSession, keyOrSession, none } from '../../access/labels.ts'
import { Done, done, Success, success } from '../../http/envelope.ts'
import { LoginBody, Me, PasswordBody, SignedIn } from './auth.schemas.ts'
import type { AuthService } from './auth.service.ts'

export const authRoutes =
  (auth: AuthService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/login', {
      config: { auth: none(), errors: [InvalidLogin, AddressNotAllowed], throttled: true },
      schema: {
        operationId: 'login',
        summary: 'Sign in to the dashboard',
        body: LoginBody,
        response: { 200: Success(SignedIn) },
      },
      handler: async (request, reply) => {
        const { cookies, data } = await auth.login(request.caller, request.body)
        reply.header('set-cookie', cookies)
        return success('Signed in', data)
      },
    })

    app.get('/me', {
      config: { auth: keyOrSession() },
      schema: {
        operationId: 'get_me',
        summary: 'Get the user and the organization of the caller',
        response: { 200: Success(Me) },
      },
      handler: async (request) => success('OK', auth.me(request.caller)),
    })

    app.post('/logout', {
      config: { auth: keyOrSession({ partialToo: true, endedToo: true }) },
      schema: {
        operationId: 'logout',
        summary: 'End the session and clear its cookies; does nothing for an API key',
        response: { 200: Done },
      },
      handler: async (request, reply) => {
        reply.header('set-cookie', await auth.logout(request.caller, request.unusableCookies))
        return done('Logged out')
      },
    })

    app.post('/password', {
      config: {
        auth: dashboardSession(),
        errors: [InvalidLogin, DashboardSessionRequired],
        throttled: true,
      },
      schema: {
        operationId: 'change_password',
        summary: 'Change the own password; every other session ends',
        body: PasswordBody,
        response: { 200: Done },
      },
      handler: async (request) => {
        await auth.changePassword(request.caller, request.body)
        return done('Password changed')
      },
    })

    app.post('/sessions/revoke-all', {
      config: { auth: dashboardSession(), errors: [DashboardSessionRequired] },
      schema: {
        operationId: 'revoke_all_sessions',
        summary: 'End every session of the user, this one included',
        response: { 200: Done },
      },
      handler: async (request, reply) => {
        reply.header('set-cookie', await auth.revokeAll(request.caller))
        return done('All sessions revoked')
      },
    })
  }
