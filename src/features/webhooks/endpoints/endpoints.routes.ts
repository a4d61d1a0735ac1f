import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as errors from './endpoints.errors.ts'
import * as shapes from './endpoints.schemas.ts'
import type { EndpointService } from './endpoints.service.ts'

export const endpointRoutes =
  (endpoints: EndpointService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_webhook_endpoints',
        summary: 'List webhook endpoints, newest first',
        querystring: shapes.EndpointQuery,
        response: { 200: Success(Paginated(shapes.WebhookEndpoint)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Webhook endpoints retrieved',
          await endpoints.list(caller, query.organization_id, pageOf(query)),
        ),
    })

    app.post('', {
      config: {
        auth: key('write'),
        validation: 'handler',
        noData: errors.UrlRequired,
        errors: [errors.UrlRequired, errors.TooManyEndpoints, OrganizationNotFound],
      },
      schema: {
        operationId: 'create_webhook_endpoint',
        summary: 'Register a webhook endpoint; its secret is shown this once',
        body: shapes.NewEndpoint,
        response: { 201: Success(shapes.CreatedEndpoint) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await endpoints.create(caller, body)
        return reply.code(201).send(success('Webhook endpoint created', created))
      },
    })

    app.get('/:endpoint_id', {
      config: { auth: key('read'), errors: [errors.EndpointNotFound] },
      schema: {
        operationId: 'get_webhook_endpoint',
        summary: 'Get a webhook endpoint, without its secret',
        params: shapes.EndpointParams,
        response: { 200: Success(shapes.WebhookEndpoint) },
      },
      handler: async ({ caller, params }) =>
        success('Webhook endpoint retrieved', await endpoints.get(caller, params.endpoint_id)),
    })

    app.put('/:endpoint_id', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [errors.NothingToUpdate, errors.EndpointNotFound],
      },
      schema: {
        operationId: 'update_webhook_endpoint',
        summary: 'Change a webhook endpoint or replace its secret; absent fields stay',
        params: shapes.EndpointParams,
        body: shapes.EndpointChange,
        response: { 200: Success(shapes.UpdatedEndpoint) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Webhook endpoint updated',
          await endpoints.update(caller, params.endpoint_id, body),
        ),
    })

    app.delete('/:endpoint_id', {
      config: { auth: key('write'), errors: [errors.EndpointNotFound] },
      schema: {
        operationId: 'delete_webhook_endpoint',
        summary: 'Delete a webhook endpoint',
        params: shapes.EndpointParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await endpoints.remove(caller, params.endpoint_id)
        return done('Webhook endpoint deleted')
      },
    })

    app.post('/:endpoint_id/rotate-secret', {
      config: { auth: key('write'), errors: [errors.EndpointNotFound] },
      schema: {
        operationId: 'rotate_webhook_endpoint_secret',
        summary: 'Replace the secret; the old one signs beside it for a while',
        params: shapes.EndpointParams,
        body: shapes.SecretRotation,
        response: { 200: Success(shapes.RotatedSecret) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Webhook endpoint secret rotated',
          await endpoints.rotateSecret(caller, params.endpoint_id, body),
        ),
    })

    app.post('/:endpoint_id/test', {
      config: {
        auth: key('write'),
        errors: [errors.EndpointNotFound, errors.EndpointInactive],
      },
      schema: {
        operationId: 'test_webhook_endpoint',
        summary: 'Send a test event to the global URL, and with fan-out to the endpoint',
        params: shapes.EndpointParams,
        response: { 200: Success(shapes.TestedEndpoint) },
      },
      handler: async ({ caller, params }) =>
        success('Test event dispatched', await endpoints.test(caller, params.endpoint_id)),
    })
  }
