import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { pageOf } from '../../http/paging.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './rag.errors.ts'
import type { Services } from './rag.routes.ts'
import * as shapes from './rag.schemas.ts'
import type { SettingsService } from './settings/settings.service.ts'

/** Routes for the configuration and the index of an organization. */
export const organizationRoutes =
  (
    settings: SettingsService,
    { indexing, collections, documents }: Services,
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/rag/config/domain/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_rag_domain_config',
        summary: "The configuration of a domain's organization, and whether its mail is indexed",
        params: shapes.DomainParams,
        response: { 200: Success(shapes.DomainSettings) },
      },
      handler: async ({ caller, params }) =>
        success('Configuration retrieved', await settings.ofDomain(caller, params.domain)),
    })

    app.post('/rag/config/domain/:domain', {
      config: { auth: key('write'), errors: [DomainNotFound, errors.InvalidConfiguration] },
      schema: {
        operationId: 'set_rag_domain_config',
        summary: "Replace the configuration of a domain's organization; allow its mail or not",
        params: shapes.DomainParams,
        body: shapes.NewDomainSettings,
        response: { 200: Success(shapes.DomainSettings) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Configuration updated',
          await settings.replaceOfDomain(caller, params.domain, body),
        ),
    })

    app.get('/organizations/:organization_id/rag/config', {
      config: { auth: key('read'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'get_rag_config',
        summary: 'Settings for indexing and searching the mail of an organization',
        params: shapes.OrganizationParams,
        response: { 200: Success(shapes.Settings) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Configuration retrieved',
          await settings.ofOrganization(caller, params.organization_id),
        ),
    })

    app.put('/organizations/:organization_id/rag/config', {
      config: {
        auth: key('write'),
        errors: [OrganizationNotFound, DomainNotFound, errors.InvalidConfiguration],
      },
      schema: {
        operationId: 'set_rag_config',
        summary: 'Replace how an organization is indexed and searched',
        params: shapes.OrganizationParams,
        body: shapes.NewSettings,
        response: { 200: Success(shapes.Settings) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Configuration updated',
          await settings.replaceOfOrganization(caller, params.organization_id, body),
        ),
    })

    app.get('/organizations/:organization_id/collections', {
      config: { auth: key('read'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'list_rag_organization_collections',
        summary: 'Collections of an organization',
        params: shapes.OrganizationParams,
        response: { 200: Success(shapes.Collections) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Collections retrieved',
          await collections.ofOrganization(caller, params.organization_id),
        ),
    })

    app.get('/organizations/:organization_id/rag/stats', {
      config: { auth: key('read'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'get_rag_stats',
        summary: 'Contents of the index for an organization',
        params: shapes.OrganizationParams,
        response: { 200: Success(shapes.OrganizationStats) },
      },
      handler: async ({ caller, params }) =>
        success('Statistics retrieved', await documents.stats(caller, params.organization_id)),
    })

    app.get('/organizations/:organization_id/rag/documents', {
      config: { auth: key('read'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'list_rag_documents',
        summary: 'Indexed documents, newest first, without their text',
        params: shapes.OrganizationParams,
        querystring: shapes.DocumentsQuery,
        response: { 200: Success(shapes.Documents) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Documents retrieved',
          await documents.list(caller, params.organization_id, pageOf(query)),
        ),
    })

    app.post('/organizations/:organization_id/rag/reindex', {
      config: { auth: key('write'), errors: [OrganizationNotFound, errors.SearchDisabled] },
      schema: {
        operationId: 'reindex_rag_organization',
        summary: 'Index all domains of an organization again',
        params: shapes.OrganizationParams,
        body: shapes.Reindex,
        response: { 202: Success(shapes.ReindexAccepted) },
      },
      handler: async ({ caller, params }, reply) =>
        reply
          .code(202)
          .send(
            success('Reindexing accepted', await indexing.reindex(caller, params.organization_id)),
          ),
    })
  }
