import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { limitOf, sliceOf } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import * as errors from './smtp-credentials.errors.ts'
import * as shapes from './smtp-credentials.schemas.ts'
import type { SmtpCredentialService } from './smtp-credentials.service.ts'

export const smtpCredentialRoutes =
  (credentials: SmtpCredentialService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_smtp_credentials',
        summary: 'List SMTP credentials, newest first unless sorted otherwise',
        querystring: shapes.CredentialQuery,
        response: { 200: Success(shapes.CredentialList) },
      },
      handler: async ({ caller, query }) =>
        success(
          'SMTP credentials retrieved successfully',
          await credentials.list(
            caller,
            query,
            sortOf(query, 'created_at', 'desc'),
            sliceOf(query),
          ),
        ),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: key('write'),
        errors: [errors.CredentialDomainNotFound, errors.UsernameTaken],
      },
      schema: {
        operationId: 'create_smtp_credential',
        summary: 'Create an SMTP credential; a generated secret is shown this once',
        body: shapes.NewCredential,
        response: { 201: Success(shapes.CreatedCredential) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await credentials.create(caller, body)
        return reply.code(201).send(success('SMTP credential created successfully', created))
      },
    })

    app.get('/:credential_id', {
      config: { auth: key('read'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'get_smtp_credential',
        summary: 'Get an SMTP credential, without its secret',
        params: shapes.CredentialParams,
        response: { 200: Success(shapes.SmtpCredential) },
      },
      handler: async ({ caller, params }) =>
        success(
          'SMTP credential retrieved successfully',
          await credentials.get(caller, params.credential_id),
        ),
    })

    app.patch('/:credential_id', {
      config: { auth: key('write'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'update_smtp_credential',
        summary: 'Change an SMTP credential; absent fields stay, null clears',
        params: shapes.CredentialParams,
        body: shapes.CredentialChange,
        response: { 200: Success(shapes.UpdatedCredential) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'SMTP credential updated successfully',
          await credentials.update(caller, params.credential_id, body),
        ),
    })

    app.delete('/:credential_id', {
      config: { auth: key('write') },
      schema: {
        operationId: 'delete_smtp_credential',
        summary: 'Delete an SMTP credential; succeeds also when it is absent',
        params: shapes.CredentialParams,
        response: { 200: Success(shapes.DeletedCredential) },
      },
      handler: async ({ caller, params }) => {
        const { existed, cache_flushed } = await credentials.remove(caller, params.credential_id)
        const what = existed ? 'deleted successfully' : 'already absent'
        return success(`SMTP credential ${what}`, { cache_flushed })
      },
    })

    app.post('/:credential_id/rotate', {
      config: { auth: key('write'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'rotate_smtp_credential',
        summary: 'Replace the secret; the new one is shown this once',
        params: shapes.CredentialParams,
        response: { 200: Success(shapes.RotatedCredential) },
      },
      handler: async ({ caller, params }) =>
        success(
          'SMTP credential rotated successfully',
          await credentials.rotate(caller, params.credential_id),
        ),
    })

    app.post('/:credential_id/revoke', {
      config: { auth: key('write'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'revoke_smtp_credential',
        summary: 'Revoke an SMTP credential; may be repeated',
        params: shapes.CredentialParams,
        response: { 200: Success(shapes.SwitchedCredential) },
      },
      handler: async ({ caller, params }) =>
        success('SMTP credential revoked', await credentials.revoke(caller, params.credential_id)),
    })

    app.post('/:credential_id/enable', {
      config: { auth: key('write'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'enable_smtp_credential',
        summary: 'Let a revoked SMTP credential work again; may be repeated',
        params: shapes.CredentialParams,
        response: { 200: Success(shapes.SwitchedCredential) },
      },
      handler: async ({ caller, params }) =>
        success('SMTP credential enabled', await credentials.enable(caller, params.credential_id)),
    })

    app.get('/:credential_id/events', {
      config: { auth: key('read'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'list_smtp_credential_events',
        summary:
          'List the changes of an SMTP credential, newest first; readable after its deletion',
        params: shapes.CredentialParams,
        querystring: shapes.EventQuery,
        response: { 200: Success(shapes.CredentialEvents) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'SMTP credential events retrieved successfully',
          await credentials.events(caller, params.credential_id, limitOf(query)),
        ),
    })

    app.get('/:credential_id/usage', {
      config: { auth: key('read'), errors: [errors.CredentialNotFound] },
      schema: {
        operationId: 'get_smtp_credential_usage',
        summary: 'Number of messages that a credential sent, by outcome',
        params: shapes.CredentialParams,
        querystring: shapes.UsageQuery,
        response: { 200: Success(shapes.CredentialUsage) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'SMTP credential usage retrieved successfully',
          await credentials.usage(caller, params.credential_id, query.days ?? 30),
        ),
    })
  }
