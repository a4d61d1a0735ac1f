import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Done, done, Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './users.errors.ts'
import * as shapes from './users.schemas.ts'
import type { UserService } from './users.service.ts'

export const userRoutes =
  (users: UserService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_users',
        summary: 'List dashboard users and open invitations, by email',
        querystring: shapes.UserQuery,
        response: { 200: Success(Paginated(shapes.DashboardUser)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Users retrieved',
          await users.list(caller, query.organization_id, query, pageOf(query)),
        ),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: key('admin'),
        audited: true,
        errors: [
          OrganizationNotFound,
          errors.OrganizationRequired,
          errors.UserAlreadyInvited,
          errors.OwnersManageOwners,
          errors.TooManyInvitations,
        ],
      },
      schema: {
        operationId: 'invite_user',
        summary: 'Invite a person by mail, with a link that expires',
        body: shapes.NewUser,
        response: { 201: Success(shapes.InvitedUser) },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(success('Invitation created', await users.invite(caller, body))),
    })

    app.get('/:user_id', {
      config: { auth: key('read'), errors: [errors.UserNotFound] },
      schema: {
        operationId: 'get_user',
        summary: 'Get a dashboard user',
        params: shapes.UserParams,
        response: { 200: Success(shapes.DashboardUser) },
      },
      handler: async ({ caller, params }) =>
        success('User retrieved', await users.get(caller, params.user_id)),
    })

    app.put('/:user_id', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [errors.UserNotFound, errors.OwnUser, errors.OwnersManageOwners, errors.LastOwner],
      },
      schema: {
        operationId: 'update_user',
        summary: 'Change name, role or active status of a dashboard user',
        params: shapes.UserParams,
        body: shapes.UserChange,
        response: { 200: Success(shapes.DashboardUser) },
      },
      handler: async ({ caller, params, body }) =>
        success('User updated', await users.update(caller, params.user_id, body)),
    })

    app.delete('/:user_id', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [errors.UserNotFound, errors.OwnUser, errors.OwnersManageOwners, errors.LastOwner],
      },
      schema: {
        operationId: 'delete_user',
        summary: 'Delete a dashboard user or withdraw an invitation',
        params: shapes.UserParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await users.remove(caller, params.user_id)
        return done('User deleted')
      },
    })

    app.post('/:user_id/invite', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [
          errors.UserNotFound,
          errors.UserHasJoined,
          errors.UserIsDisabled,
          errors.OwnersManageOwners,
        ],
      },
      schema: {
        operationId: 'invite_user_again',
        summary: 'Send the invitation again; the earlier link stops working',
        params: shapes.UserParams,
        response: { 200: Success(shapes.LinkCreated) },
      },
      handler: async ({ caller, params }) =>
        success('Invitation sent again', await users.inviteAgain(caller, params.user_id)),
    })
  }
