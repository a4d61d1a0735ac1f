import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { OrganizationRequired } from '../users/users.errors.ts'
import * as errors from './api-keys.errors.ts'
import * as shapes from './api-keys.schemas.ts'
import type { ApiKeyService } from './api-keys.service.ts'

export const apiKeyRoutes =
  (keys: ApiKeyService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read'), errors: [errors.SelfServiceKeysOff] },
      schema: {
        operationId: 'list_api_keys',
        summary: 'List API keys, newest first, without their secrets',
        description: 'Tenants see their own where the capability `self_service_keys` is on.',
        querystring: shapes.KeyQuery,
        response: { 200: Success(Paginated(shapes.ApiKey)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'API keys retrieved',
          await keys.list(caller, query.organization_id, query, pageOf(query)),
        ),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: key('admin'),
        audited: true,
        errors: [
          OrganizationNotFound,
          OrganizationRequired,
          errors.SelfServiceKeysOff,
          errors.ScopesExceeded,
          errors.TooManyKeys,
        ],
      },
      schema: {
        operationId: 'create_api_key',
        summary: 'Create an API key of an organization',
        body: shapes.NewApiKey,
        response: { 201: Success(shapes.IssuedApiKey) },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(success('API key created', await keys.create(caller, body))),
    })

    app.get('/:key_id', {
      config: { auth: key('read'), errors: [errors.ApiKeyNotFound, errors.SelfServiceKeysOff] },
      schema: {
        operationId: 'get_api_key',
        summary: 'Get an API key, without its secret',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.ApiKey) },
      },
      handler: async ({ caller, params }) =>
        success('API key retrieved', await keys.get(caller, params.key_id)),
    })

    app.post('/:key_id/rotate', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [
          errors.ApiKeyNotFound,
          errors.ApiKeyRevoked,
          errors.SelfServiceKeysOff,
          errors.ScopesExceeded,
        ],
      },
      schema: {
        operationId: 'rotate_api_key',
        summary: 'Replace an API key by a new one with the same name, scopes and expiry',
        params: shapes.KeyParams,
        body: shapes.Rotation,
        response: { 201: Success(shapes.IssuedApiKey) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const issued = await keys.rotate(caller, params.key_id, body?.overlap_hours ?? 0)
        return reply.code(201).send(success('API key rotated', issued))
      },
    })

    app.post('/:key_id/revoke', {
      config: {
        auth: key('admin'),
        audited: true,
        errors: [errors.ApiKeyNotFound, errors.SelfServiceKeysOff],
      },
      schema: {
        operationId: 'revoke_api_key',
        summary: 'Revoke an API key at once; may be repeated',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.ApiKey) },
      },
      handler: async ({ caller, params }) =>
        success('API key revoked', await keys.revoke(caller, params.key_id)),
    })
  }
