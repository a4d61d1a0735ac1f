import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { pageOf } from '../../../http/paging.ts'
import { NoUpdatableFields, OrganizationNotFound } from '../security.errors.ts'
import { Reason } from '../security.schemas.ts'
import { GeoPolicyExists, GeoPolicyNotFound } from './geo-policies.errors.ts'
import {
  DeletedGeoPolicy,
  GeoPolicyChange,
  GeoPolicyPage,
  GeoPolicyParams,
  GeoPolicyQuery,
  NewGeoPolicy,
  WrittenGeoPolicy,
} from './geo-policies.schemas.ts'
import type { GeoPolicyService } from './geo-policies.service.ts'

export const geoPolicyRoutes =
  (policies: GeoPolicyService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'list_geo_policies',
        summary: 'List geo policies, newest first',
        querystring: GeoPolicyQuery,
        response: { 200: Success(GeoPolicyPage) },
      },
      handler: async ({ query: { page, per_page, ...filter } }) =>
        success('Geo policies retrieved', await policies.list(filter, pageOf({ page, per_page }))),
    })

    app.post('', {
      config: { auth: operator('operator'), errors: [OrganizationNotFound, GeoPolicyExists] },
      schema: {
        operationId: 'create_geo_policy',
        summary: 'Create the geo policy of an organization',
        body: NewGeoPolicy,
        response: { 201: Success(WrittenGeoPolicy) },
      },
      handler: async ({ caller, body: { reason: _, ...policy } }, reply) => {
        const created = await policies.create(caller, policy)
        return reply.code(201).send(success('Geo policy created', created))
      },
    })

    app.put('/:policy_id', {
      config: { auth: operator('operator'), errors: [GeoPolicyNotFound, NoUpdatableFields] },
      schema: {
        operationId: 'update_geo_policy',
        summary: 'Change a geo policy; omitted fields stay unchanged',
        params: GeoPolicyParams,
        body: GeoPolicyChange,
        response: { 200: Success(WrittenGeoPolicy) },
      },
      handler: async ({ caller, params, body: { reason: _, ...fields } }) =>
        success('Geo policy updated', await policies.update(caller, params.policy_id, fields)),
    })

    app.delete('/:policy_id', {
      config: { auth: operator('operator'), errors: [GeoPolicyNotFound] },
      schema: {
        operationId: 'delete_geo_policy',
        summary: 'Delete a geo policy; the organization may then send from every country',
        params: GeoPolicyParams,
        body: Reason,
        response: { 200: Success(DeletedGeoPolicy) },
      },
      handler: async ({ caller, params }) =>
        success('Geo policy deleted', await policies.delete(caller, params.policy_id)),
    })
  }
