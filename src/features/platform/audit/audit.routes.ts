import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { AuditEntry, AuditFacets, AuditParams, AuditQuery } from './audit.schemas.ts'
import { AuditEntryNotFound, type AuditService } from './audit.service.ts'

export const auditRoutes =
  (audit: AuditService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_audit',
        summary: 'List audit entries, newest first',
        querystring: AuditQuery,
        response: { 200: Success(Paginated(AuditEntry)) },
      },
      handler: async ({ query }) =>
        success('Audit entries retrieved', await audit.list(query, pageOf(query))),
    })

    app.get('/facets', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'audit_facets',
        summary: 'List the values of the audit filters',
        response: { 200: Success(AuditFacets) },
      },
      handler: async () => success('Audit facets retrieved', await audit.facets()),
    })

    app.get('/:audit_id', {
      config: { auth: operator('support'), errors: [AuditEntryNotFound] },
      schema: {
        operationId: 'get_audit_entry',
        summary: 'Get an audit entry',
        params: AuditParams,
        response: { 200: Success(AuditEntry) },
      },
      handler: async ({ params }) =>
        success('Audit entry retrieved', await audit.get(params.audit_id)),
    })
  }
