import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Unprocessable } from '../../errors.ts'
import { ADDRESS_CONFLICTS } from '../../hosting/address-conflicts.ts'
import { Success, success } from '../../http/envelope.ts'
import { pageOf, TOTAL_COUNT } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import * as errors from './aliases.errors.ts'
import * as shapes from './aliases.schemas.ts'
import type { AliasService } from './aliases.service.ts'

export const aliasRoutes =
  (aliases: AliasService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/add', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          errors.InvalidAlias,
          errors.DomainUnavailable,
          errors.ForwardingLoop,
          errors.AliasExists,
          ...ADDRESS_CONFLICTS,
        ],
      },
      schema: {
        operationId: 'create_alias',
        summary: 'Create an alias; its organization is that of the domain',
        body: shapes.NewAlias,
        response: { 200: Success(shapes.CreatedAlias) },
      },
      handler: async ({ caller, body }) => {
        const created = await aliases.create(caller, body)
        return success(`Alias ${created.source} created successfully`, created)
      },
    })

    app.post('/add/bulk', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [errors.InvalidAlias, Unprocessable],
      },
      schema: {
        operationId: 'create_aliases',
        summary: 'Create several aliases, each on its own',
        body: shapes.BulkBody,
        response: { 200: Success(shapes.BulkResult) },
      },
      handler: async ({ caller, body }) =>
        success('Bulk alias creation completed', await aliases.createMany(caller, body)),
    })

    app.get('/get/:alias_id', {
      config: { auth: key('read'), errors: [errors.AliasNotFound], totalCount: true },
      schema: {
        operationId: 'get_aliases',
        summary: 'Get an alias by id or source, or a page of all of them (`all`)',
        params: shapes.AliasParams,
        querystring: shapes.AliasQuery,
        response: { 200: Success(shapes.AliasList) },
      },
      handler: async ({ caller, params, query }, reply) => {
        const { items, total } = await aliases.get(
          caller,
          params.alias_id,
          query,
          sortOf(query, 'source'),
          pageOf(query),
        )
        return reply
          .header(TOTAL_COUNT, total)
          .send(success('Aliases retrieved successfully', items))
      },
    })

    app.get('/get/stats/:domain', {
      config: { auth: key('read'), errors: [errors.AliasDomainNotFound] },
      schema: {
        operationId: 'get_alias_stats',
        summary: 'Aliases of a domain in numbers',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.AliasStats) },
      },
      handler: async ({ caller, params }) => {
        const { domain, ...stats } = await aliases.stats(caller, params.domain)
        return success(`Alias statistics for ${domain} retrieved successfully`, stats)
      },
    })

    app.post('/edit', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [errors.InvalidAlias, Unprocessable],
      },
      schema: {
        operationId: 'edit_aliases',
        summary: 'Change destinations of aliases, or switch them on and off',
        body: shapes.EditBody,
        response: { 200: Success(shapes.Edited) },
      },
      handler: async ({ caller, body }) =>
        success('Alias update completed', await aliases.edit(caller, body)),
    })

    app.post('/delete', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [errors.InvalidAlias, Unprocessable],
      },
      schema: {
        operationId: 'delete_aliases',
        summary: 'Delete aliases',
        body: shapes.DeleteBody,
        response: { 200: Success(shapes.Deleted) },
      },
      handler: async ({ caller, body }) =>
        success('Alias deletion completed', await aliases.remove(caller, body)),
    })
  }
