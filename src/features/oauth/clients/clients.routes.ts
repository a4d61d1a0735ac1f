import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as errors from './clients.errors.ts'
import * as shapes from './clients.schemas.ts'
import type { OauthClientService } from './clients.service.ts'

export const oauthClientRoutes =
  (clients: OauthClientService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/clients', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_oauth_clients',
        summary: 'List OAuth clients, newest first, without their secrets',
        querystring: shapes.ClientQuery,
        response: { 200: Success(Paginated(shapes.OauthClient)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'OAuth clients retrieved',
          await clients.list(caller, query.organization_id, pageOf(query)),
        ),
    })

    app.post('/clients', {
      config: {
        auth: key('write'),
        audited: true,
        errors: [errors.OauthRightsExceeded, errors.TooManyOauthClients, OrganizationNotFound],
      },
      schema: {
        operationId: 'create_oauth_client',
        summary: 'Register a program that signs mailbox holders in, or that uses the API',
        body: shapes.NewClient,
        response: { 201: Success(shapes.IssuedOauthClient) },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(success('OAuth client created', await clients.create(caller, body))),
    })

    app.get('/clients/:client_id', {
      config: { auth: key('read'), errors: [errors.OauthClientNotFound] },
      schema: {
        operationId: 'get_oauth_client',
        summary: 'Get an OAuth client, without its secret',
        params: shapes.ClientParams,
        response: { 200: Success(shapes.OauthClient) },
      },
      handler: async ({ caller, params }) =>
        success('OAuth client retrieved', await clients.get(caller, params.client_id)),
    })

    app.patch('/clients/:client_id', {
      config: { auth: key('write'), audited: true, errors: [errors.OauthClientNotFound] },
      schema: {
        operationId: 'update_oauth_client',
        summary: 'Change an OAuth client; new scopes or switching it off end its grants',
        params: shapes.ClientParams,
        body: shapes.ClientChange,
        response: { 200: Success(shapes.OauthClient) },
      },
      handler: async ({ caller, params, body }) =>
        success('OAuth client updated', await clients.update(caller, params.client_id, body)),
    })

    app.post('/clients/:client_id/rotate-secret', {
      config: {
        auth: key('write'),
        audited: true,
        errors: [errors.OauthClientNotFound, errors.OauthSecretNotUsed],
      },
      schema: {
        operationId: 'rotate_oauth_client_secret',
        summary: 'Replace the secret of an OAuth client; its tokens stay valid',
        params: shapes.ClientParams,
        response: { 200: Success(shapes.IssuedOauthClient) },
      },
      handler: async ({ caller, params }) =>
        success('Secret replaced', await clients.rotate(caller, params.client_id)),
    })

    app.delete('/clients/:client_id', {
      config: { auth: key('write'), audited: true, errors: [errors.OauthClientNotFound] },
      schema: {
        operationId: 'delete_oauth_client',
        summary: 'Delete an OAuth client with all its grants and tokens',
        params: shapes.ClientParams,
        response: { 200: Success(shapes.ClientDeleted) },
      },
      handler: async ({ caller, params }) =>
        success('OAuth client deleted', await clients.remove(caller, params.client_id)),
    })
  }
