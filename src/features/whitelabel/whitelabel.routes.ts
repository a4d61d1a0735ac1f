import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { none, operator } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { PREVIEW_HEADERS } from './preview.ts'
import { CustomDomainTaken, NoBrandFields, NoCustomDomain } from './whitelabel.errors.ts'
import * as shapes from './whitelabel.schemas.ts'
import type { WhitelabelService } from './whitelabel.service.ts'

const auth = operator('admin')

export const whitelabelRoutes =
  (brands: WhitelabelService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/brand', {
      config: { auth: none() },
      schema: {
        operationId: 'get_brand_of_host',
        summary: 'The brand to show on a host; empty when no verified custom domain is this host',
        querystring: shapes.HostQuery,
        response: { 200: Success(shapes.PublicBrand) },
      },
      handler: async ({ query, hostname }) =>
        success('Brand retrieved', await brands.ofHost(query.host ?? hostname)),
    })

    app.get('/config/:org_id', {
      config: { auth, errors: [OrganizationNotFound] },
      schema: {
        operationId: 'get_whitelabel_config',
        summary: 'The brand of an organization',
        params: shapes.BrandParams,
        response: { 200: Success(shapes.WhitelabelConfig) },
      },
      handler: async ({ params }) =>
        success('White-label configuration retrieved', await brands.get(params.org_id)),
    })

    app.put('/config/:org_id', {
      config: {
        auth,
        errors: [OrganizationNotFound, NoBrandFields, CustomDomainTaken, ...WORK_ERRORS],
      },
      schema: {
        operationId: 'set_whitelabel_config',
        summary: 'Change the brand of an organization; null removes a field',
        params: shapes.BrandParams,
        body: shapes.BrandChange,
        response: { 200: Success(shapes.WhitelabelConfig) },
      },
      handler: async ({ caller, params, body }) =>
        success('White-label configuration saved', await brands.set(caller, params.org_id, body)),
    })

    app.post('/config/:org_id/verify-domain', {
      config: {
        auth,
        errors: [OrganizationNotFound, NoCustomDomain],
        downstream: 'DNS did not answer; try again',
      },
      schema: {
        operationId: 'verify_whitelabel_domain',
        summary: 'Look up whether the custom domain leads here',
        params: shapes.BrandParams,
        response: { 200: Success(shapes.DomainVerification) },
      },
      handler: async ({ caller, params }) =>
        success('Custom domain checked', await brands.verifyDomain(caller, params.org_id)),
    })

    app.get('/config/:org_id/preview', {
      config: { auth, errors: [OrganizationNotFound, ...WORK_ERRORS] },
      schema: {
        operationId: 'preview_whitelabel',
        summary: 'The login page as it would look',
        params: shapes.BrandParams,
        response: { 200: Success(shapes.Preview) },
      },
      handler: async ({ params }) =>
        success('Preview rendered', await brands.preview(params.org_id)),
    })

    app.get('/config/:org_id/preview/page', {
      config: { auth, errors: [OrganizationNotFound, ...WORK_ERRORS] },
      schema: {
        operationId: 'show_whitelabel_preview',
        summary: 'The login page as it would look, as a page for a frame of the console',
        params: shapes.BrandParams,
        produces: ['text/html'],
      },
      handler: async ({ params }, reply) => {
        const { html } = await brands.preview(params.org_id)
        return reply.headers(PREVIEW_HEADERS).send(html)
      },
    })

    app.delete('/config/:org_id', {
      config: { auth, errors: [OrganizationNotFound] },
      schema: {
        operationId: 'delete_whitelabel_config',
        summary: 'Delete the brand of an organization',
        params: shapes.BrandParams,
        response: { 200: Success(shapes.Removed) },
      },
      handler: async ({ caller, params }) =>
        success('White-label configuration removed', await brands.remove(caller, params.org_id)),
    })
  }
