import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { WORK_ERRORS } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as errors from './url-protection.errors.ts'
import * as shapes from './url-protection.schemas.ts'
import type { UrlProtectionService } from './url-protection.service.ts'

const platformErrors = [errors.OrganizationRequired, OrganizationNotFound]

/** For tenants: their own settings, list and clicks. */
export const urlProtectionRoutes =
  (protection: UrlProtectionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/settings', {
      config: { auth: key('read'), errors: platformErrors },
      schema: {
        operationId: 'get_url_protection_settings',
        summary: 'Show whether links of incoming mail are checked',
        querystring: shapes.OrganizationQuery,
        response: { 200: Success(shapes.Settings) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Link protection retrieved',
          await protection.settings(caller, query.organization_id),
        ),
    })

    app.put('/settings', {
      config: { auth: key('write'), errors: [...platformErrors, errors.NoPublicUrl] },
      schema: {
        operationId: 'save_url_protection_settings',
        summary: 'Turn the check of links on or off, from the next incoming message on',
        description: 'Links of messages that were delivered before keep leading over the check.',
        body: shapes.SettingsBody,
        response: { 200: Success(shapes.Settings) },
      },
      handler: async ({ caller, body }) =>
        success('Link protection saved', await protection.saveSettings(caller, body)),
    })

    app.get('/blocklist', {
      config: { auth: key('read'), errors: platformErrors },
      schema: {
        operationId: 'list_url_entries',
        summary: 'List blocked and allowed addresses, newest first',
        querystring: shapes.EntryQuery,
        response: { 200: Success(Paginated(shapes.UrlEntry)) },
      },
      handler: async ({ caller, query }) =>
        success('Entries retrieved', await protection.list(caller, query, pageOf(query))),
    })

    app.post('/blocklist', {
      config: {
        auth: key('write'),
        errors: [...platformErrors, errors.EntryExists, errors.ListFull, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'create_url_entry',
        summary: 'Block or allow an address, from the next click on',
        body: shapes.NewEntry,
        response: { 201: Success(shapes.UrlEntry) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await protection.create(caller, body)
        return reply.code(201).send(success('Entry created', created))
      },
    })

    app.delete('/blocklist/:entry_id', {
      config: { auth: key('write'), errors: [errors.EntryNotFound] },
      schema: {
        operationId: 'delete_url_entry',
        summary: 'Delete an entry',
        params: shapes.EntryParams,
        response: { 200: Success(shapes.UrlEntry) },
      },
      handler: async ({ caller, params }) =>
        success('Entry deleted', await protection.remove(caller, params.entry_id)),
    })

    app.get('/clicks', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_url_clicks',
        summary: 'List clicks of the last 30 days, newest first',
        querystring: shapes.ClickQuery,
        response: { 200: Success(Paginated(shapes.UrlClick)) },
      },
      handler: async ({ caller, query: { page, per_page, ...filter } }) =>
        success(
          'Clicks retrieved',
          await protection.clicks(caller, filter, pageOf({ page, per_page })),
        ),
    })

    app.post('/scan', {
      config: { auth: key('read'), errors: platformErrors },
      schema: {
        operationId: 'scan_url',
        summary: 'Check an address as a click on it would; nothing is fetched',
        body: shapes.ScanBody,
        response: { 200: Success(shapes.UrlVerdict) },
      },
      handler: async ({ caller, body }) =>
        success('Address checked', await protection.scan(caller, body)),
    })
  }
