import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import type { UserAccessService } from './user-access.service.ts'
import * as errors from './users.errors.ts'
import * as shapes from './users.schemas.ts'

export const userAccessRoutes =
  (access: UserAccessService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/policy', {
      config: {
        auth: key('read'),
        errors: [OrganizationNotFound, errors.OrganizationRequired],
      },
      schema: {
        operationId: 'get_user_policy',
        summary: 'Get the rules for the logins of dashboard users',
        querystring: shapes.OrganizationQuery,
        response: { 200: Success(shapes.UserPolicy) },
      },
      handler: async ({ caller, query }) =>
        success('Policy retrieved', await access.policy(caller, query.organization_id)),
    })

    app.put('/policy', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [OrganizationNotFound, errors.OrganizationRequired, errors.OwnSecondFactorMissing],
      },
      schema: {
        operationId: 'set_user_policy',
        summary: 'Require a second factor, or stop requiring it',
        description:
          'Users without a second factor are signed out and set one up at the next login.',
        body: shapes.PolicyChange,
        response: { 200: Success(shapes.UserPolicy) },
      },
      handler: async ({ caller, body }) =>
        success('Policy changed', await access.setPolicy(caller, body)),
    })

    app.post('/:user_id/password-reset', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [
          errors.UserNotFound,
          errors.UserHasNotJoined,
          errors.UserIsDisabled,
          errors.OwnersManageOwners,
        ],
      },
      schema: {
        operationId: 'reset_user_password',
        summary: 'Mail a link to set a new password; the old one works until the link is used',
        params: shapes.UserParams,
        response: { 200: Success(shapes.LinkCreated) },
      },
      handler: async ({ caller, params }) =>
        success('Password reset created', await access.resetPassword(caller, params.user_id)),
    })

    app.post('/:user_id/two-factor-reset', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [errors.UserNotFound, errors.OwnUser, errors.OwnersManageOwners],
      },
      schema: {
        operationId: 'reset_user_two_factor',
        summary: 'Clear the second factor of a user and end the sessions',
        params: shapes.UserParams,
        response: { 200: Success(shapes.TwoFactorReset) },
      },
      handler: async ({ caller, params }) =>
        success('Second factor cleared', await access.resetTwoFactor(caller, params.user_id)),
    })

    app.get('/:user_id/sessions', {
      config: { auth: key('read'), errors: [errors.UserNotFound] },
      schema: {
        operationId: 'list_user_sessions',
        summary: 'List the live sessions of a user, newest first',
        params: shapes.UserParams,
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(shapes.UserSession)) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Sessions retrieved',
          await access.listSessions(caller, params.user_id, pageOf(query)),
        ),
    })

    app.post('/:user_id/sessions/revoke', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [errors.UserNotFound, errors.OwnersManageOwners],
      },
      schema: {
        operationId: 'revoke_user_sessions',
        summary: 'End every session of a user',
        params: shapes.UserParams,
        response: { 200: Success(shapes.SessionsRevoked) },
      },
      handler: async ({ caller, params }) =>
        success('Sessions revoked', await access.revokeSessions(caller, params.user_id)),
    })

    app.delete('/:user_id/sessions/:session_id', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [errors.UserNotFound, errors.UserSessionNotFound, errors.OwnersManageOwners],
      },
      schema: {
        operationId: 'revoke_user_session',
        summary: 'End one session of a user',
        params: shapes.UserSessionParams,
        response: { 200: Success(shapes.SessionsRevoked) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Session revoked',
          await access.revokeSession(caller, params.user_id, params.session_id),
        ),
    })
  }
