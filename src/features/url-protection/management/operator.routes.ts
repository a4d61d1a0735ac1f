import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import * as errors from './url-protection.errors.ts'
import * as shapes from './url-protection.schemas.ts'
import type { UrlProtectionService } from './url-protection.service.ts'

/** For operators: the list that applies to all organizations, feed files, signing keys. */
export const operatorRoutes =
  (protection: UrlProtectionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/global/blocklist', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_global_url_entries',
        summary: 'List addresses that are blocked or allowed for all organizations',
        querystring: shapes.GlobalEntryQuery,
        response: { 200: Success(Paginated(shapes.UrlEntry)) },
      },
      handler: async ({ query }) =>
        success(
          'Entries retrieved',
          await protection.listOf(null, query.entry_type, pageOf(query)),
        ),
    })

    app.post('/global/blocklist', {
      config: {
        auth: operator('operator'),
        errors: [errors.EntryExists, errors.ListFull, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'create_global_url_entry',
        summary: 'Block or allow an address for all organizations',
        body: shapes.NewGlobalEntry,
        response: { 201: Success(shapes.UrlEntry) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await protection.createFor(caller, null, body)
        return reply.code(201).send(success('Entry created', created))
      },
    })

    app.delete('/global/blocklist/:entry_id', {
      config: { auth: operator('operator'), errors: [errors.EntryNotFound] },
      schema: {
        operationId: 'delete_global_url_entry',
        summary: 'Delete an entry that applies to all organizations',
        params: shapes.EntryParams,
        body: shapes.ReasonBody,
        response: { 200: Success(shapes.UrlEntry) },
      },
      handler: async ({ caller, params }) =>
        success('Entry deleted', await protection.removeFor(caller, null, params.entry_id)),
    })

    app.get('/feeds', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_url_feeds',
        summary: 'Show the feed files of this process',
        response: { 200: Success(Type.Array(shapes.FeedFile)) },
      },
      handler: async () => success('Feeds retrieved', await protection.feeds()),
    })

    app.get('/keys', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_url_keys',
        summary: 'List the keys that sign links; the first signs new ones',
        response: { 200: Success(Type.Array(shapes.LinkKeyState)) },
      },
      handler: async () => success('Keys retrieved', await protection.keys()),
    })

    app.post('/keys/rotate', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'rotate_url_key',
        summary: 'Sign new links with a new key; links of the old one work for another year',
        body: shapes.ReasonBody,
        response: { 200: Success(shapes.LinkKeyState) },
      },
      handler: async ({ caller }) => success('Key rotated', await protection.rotate(caller)),
    })
  }
