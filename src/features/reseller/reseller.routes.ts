import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import * as errors from './reseller.errors.ts'
import * as shapes from './reseller.schemas.ts'
import type { ResellerService } from './reseller.service.ts'

export const resellerRoutes =
  (resellers: ResellerService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/sub-organizations', {
      config: {
        auth: operator('admin'),
        errors: [
          errors.ParentNotFound,
          errors.ParentSuspended,
          errors.ParentIsSubOrganization,
          errors.ParentLimitExceeded,
        ],
      },
      schema: {
        operationId: 'create_sub_organization',
        summary: 'Open an organization for a customer of a reseller',
        body: shapes.NewSubOrganization,
        response: { 201: Success(shapes.SubOrganization) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await resellers.create(caller, body)
        return reply.code(201).send(success('Sub-organization created', created))
      },
    })

    app.get('/sub-organizations', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_sub_organizations',
        summary: 'Customers of resellers, with what they use',
        querystring: shapes.SubOrganizationQuery,
        response: { 200: Success(Paginated(shapes.SubOrganization)) },
      },
      handler: async ({ query }) =>
        success('Sub-organizations retrieved', await resellers.list(query, pageOf(query))),
    })

    app.get('/sub-organizations/:org_id', {
      config: { auth: operator('admin'), errors: [errors.SubOrganizationNotFound] },
      schema: {
        operationId: 'get_sub_organization',
        summary: 'A customer of a reseller, with its domains',
        params: shapes.SubOrganizationParams,
        response: { 200: Success(shapes.SubOrganizationDetail) },
      },
      handler: async ({ params }) =>
        success('Sub-organization retrieved', await resellers.get(params.org_id)),
    })

    app.put('/sub-organizations/:org_id/plan', {
      config: {
        auth: operator('admin'),
        errors: [
          errors.SubOrganizationNotFound,
          errors.NoPlanFields,
          errors.PlanBelowUse,
          errors.ParentLimitExceeded,
        ],
      },
      schema: {
        operationId: 'set_sub_organization_plan',
        summary: 'Change what a customer of a reseller may have',
        params: shapes.SubOrganizationParams,
        body: shapes.PlanChange,
        response: { 200: Success(shapes.SubOrganization) },
      },
      handler: async ({ caller, params, body }) =>
        success('Plan updated', await resellers.setPlan(caller, params.org_id, body)),
    })

    app.delete('/sub-organizations/:org_id', {
      config: { auth: operator('admin'), errors: [errors.SubOrganizationNotFound] },
      schema: {
        operationId: 'delete_sub_organization',
        summary: 'Suspend a customer of a reseller; its domains and mailboxes remain',
        params: shapes.SubOrganizationParams,
        response: { 200: Success(shapes.SubOrganization) },
      },
      handler: async ({ caller, params }) =>
        success('Sub-organization deactivated', await resellers.suspend(caller, params.org_id)),
    })

    app.get('/billing/summary', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'get_billing_summary',
        summary: 'Usage of the customers of resellers, in total and for each',
        querystring: shapes.BillingQuery,
        response: { 200: Success(shapes.BillingSummary) },
      },
      handler: async ({ query }) =>
        success('Billing summary retrieved', await resellers.billing(query.parent_org_id)),
    })
  }
