import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../../access/labels.ts'
import type { Core } from '../../../core.ts'
import { Body, Nullable, OneOf } from '../../../http/envelope.ts'
import { pageOf } from '../../../http/paging.ts'
import { ClickQuery, EntryParams, NewEntry, ScanBody } from './url-protection.schemas.ts'
import { urlProtectionService } from './url-protection.service.ts'

const MAX_PAGE_BYTES = 16 * 1024 * 1024

const organization = Nullable(Type.String({ minLength: 1 }))
const OwnerQuery = Type.Object({ org_id: Type.Optional(Type.String()) })

const RewriteBody = Body({
  html_content: Type.String(),
  organization_id: Type.String({ minLength: 1 }),
  message_id: Type.Optional(Type.String()),
})
const InternalEntry = Body({
  ...NewEntry.properties,
  organization_id: Type.Optional(organization),
  entry_type: OneOf(['url', 'domain', 'pattern', 'allowlist']),
})

const ownerOf = (organization: string | undefined) =>
  organization === undefined ? null : { organization }

/** Called by other services of this installation; the caller names the organization and is trusted. */
export const internalRoutes =
  (core: Core): FastifyPluginAsyncTypebox =>
  async (app) => {
    const protection = urlProtectionService(core)
    const route = { config: { auth: internal() } }

    app.post('/rewrite', {
      ...route,
      bodyLimit: MAX_PAGE_BYTES,
      schema: { hide: true, body: RewriteBody },
      handler: async ({ body }) => protection.rewrite(body.html_content, body.organization_id),
    })

    app.post('/scan', {
      ...route,
      schema: { hide: true, body: ScanBody },
      handler: async ({ body }) => protection.scanFor(body.url, body.organization_id),
    })

    app.get('/clicks', {
      ...route,
      schema: {
        hide: true,
        querystring: Type.Object({ ...ClickQuery.properties, ...OwnerQuery.properties }),
      },
      handler: async ({ query: { org_id, page, per_page, scan_result, url_domain } }) =>
        protection.clicksOf(
          {
            ...(org_id !== undefined && { organization_id: org_id }),
            ...(scan_result !== undefined && { scan_result }),
            ...(url_domain !== undefined && { url_domain }),
          },
          pageOf({ page, per_page }),
        ),
    })

    app.get('/blocklist', {
      ...route,
      schema: { hide: true, querystring: OwnerQuery },
      handler: async ({ query }) =>
        (await protection.listOf(query.org_id ?? null, undefined, pageOf({ per_page: 200 }))).items,
    })

    app.post('/blocklist', {
      ...route,
      schema: { hide: true, body: InternalEntry },
      handler: async ({ caller, body: { organization_id, ...sent } }) => ({
        status: 'ok',
        ...(await protection.createFor(caller, organization_id ?? null, sent)),
      }),
    })

    app.delete('/blocklist/:entry_id', {
      ...route,
      schema: { hide: true, params: EntryParams, querystring: OwnerQuery },
      handler: async ({ caller, params, query }) => ({
        status: 'ok',
        ...(await protection.removeFor(caller, ownerOf(query.org_id), params.entry_id)),
      }),
    })
  }
