import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainParams } from '../domains.schemas.ts'
import { DkimKeyNotFound, DkimNotVisible } from './dkim.errors.ts'
import * as shapes from './dkim.schemas.ts'
import type { DkimService } from './dkim.service.ts'

export const dkimRoutes =
  (dkim: DkimService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/dkim', {
      config: { auth: operator('support'), errors: [DomainNotFound] },
      schema: {
        operationId: 'list_dkim_keys',
        summary: 'DKIM keys of a domain, the signing one first',
        params: DomainParams,
        response: { 200: Success(shapes.DkimKeys) },
      },
      handler: async ({ caller, params }) =>
        success('DKIM keys retrieved', await dkim.list(caller, params.domain_id)),
    })

    app.post('/:domain_id/dkim/rotate', {
      config: { auth: operator('operator'), errors: [DomainNotFound] },
      schema: {
        operationId: 'rotate_dkim_key',
        summary: 'Make a new key; signing changes only when it is activated',
        params: DomainParams,
        body: shapes.Reason,
        response: { 201: Success(shapes.Rotated) },
      },
      handler: async ({ caller, params }, reply) => {
        const rotated = await dkim.rotate(caller, params.domain_id)
        return reply
          .code(201)
          .send(success('New DKIM key generated; publish its record, then activate it', rotated))
      },
    })

    app.post('/:domain_id/dkim/:selector/activate', {
      config: {
        auth: operator('operator'),
        errors: [DomainNotFound, DkimKeyNotFound, DkimNotVisible],
      },
      schema: {
        operationId: 'activate_dkim_key',
        summary: 'Sign with this key from now on; refused while its record is not visible',
        params: shapes.KeyParams,
        body: shapes.ActivateBody,
        response: { 200: Success(shapes.Activated) },
      },
      handler: async ({ caller, params, body }) => {
        const { domain_id, selector } = params
        const activated = await dkim.activate(caller, domain_id, selector, {
          force: body.force ?? false,
        })
        return success(`DKIM signing selector set to '${selector}'`, activated)
      },
    })
  }
