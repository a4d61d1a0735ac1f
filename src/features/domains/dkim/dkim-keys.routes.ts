import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainParams } from '../domains.schemas.ts'
import { DkimKeyInUse, DkimKeyNotFound, DkimNotPublished, TooManyDkimKeys } from './dkim.errors.ts'
import * as shapes from './dkim.schemas.ts'
import type { DkimService } from './dkim.service.ts'

/** The keys of an organization's own domains. Operators have routes with a reason and `force`. */
export const dkimKeyRoutes =
  (dkim: DkimService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/dkim-keys', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'list_own_dkim_keys',
        summary: 'DKIM keys of an own domain, the signing one first, with the record of each',
        params: DomainParams,
        response: { 200: Success(shapes.DkimKeys) },
      },
      handler: async ({ caller, params }) =>
        success('DKIM keys retrieved', await dkim.list(caller, params.domain_id)),
    })

    app.post('/:domain_id/dkim-keys', {
      config: { auth: key('admin'), errors: [DomainNotFound, TooManyDkimKeys] },
      schema: {
        operationId: 'create_own_dkim_key',
        summary: 'Make a new key; mail is signed with it once it is activated',
        description:
          'Publish `record_value` as a TXT record at `record_name`, then activate the selector. At most five keys of a domain can wait for their activation.',
        params: DomainParams,
        response: { 201: Success(shapes.DkimKey) },
      },
      handler: async ({ caller, params }, reply) => {
        const created = await dkim.create(caller, params.domain_id)
        return reply
          .code(201)
          .send(success('New DKIM key generated; publish its record, then activate it', created))
      },
    })

    app.post('/:domain_id/dkim-keys/:selector/activate', {
      config: {
        auth: key('admin'),
        errors: [DomainNotFound, DkimKeyNotFound, DkimNotPublished],
      },
      schema: {
        operationId: 'activate_own_dkim_key',
        summary: 'Sign with this key from now on; refused while DNS does not show its record',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.Activated) },
      },
      handler: async ({ caller, params: { domain_id, selector } }) =>
        success(
          `DKIM signing selector set to '${selector}'`,
          await dkim.activate(caller, domain_id, selector, { NotVisible: DkimNotPublished }),
        ),
    })

    app.delete('/:domain_id/dkim-keys/:selector', {
      config: { auth: key('admin'), errors: [DomainNotFound, DkimKeyNotFound, DkimKeyInUse] },
      schema: {
        operationId: 'delete_own_dkim_key',
        summary: 'Delete a key that was never activated',
        params: shapes.KeyParams,
        response: { 200: Success(shapes.DeletedKey) },
      },
      handler: async ({ caller, params: { domain_id, selector } }) =>
        success('DKIM key deleted', await dkim.remove(caller, domain_id, selector)),
    })
  }
