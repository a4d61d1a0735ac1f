import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TSchema, Type } from 'typebox'
import { key, operator } from '../../access/labels.ts'
import { Body, Done, done, Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import { percent } from '../../lib/percent.ts'
import * as errors from './organizations.errors.ts'
import * as shapes from './organizations.schemas.ts'
import type { OrganizationService } from './organizations.service.ts'

/** Lists the domains of an organization; implemented by the domains feature. */
export interface DomainLister {
  shape: TSchema
  listOfOrganization(organizationId: string): Promise<object[]>
}

const detailOfOrganization = (domain: TSchema) =>
  Type.Object(
    {
      ...shapes.Organization.properties,
      domains: Type.Array(domain),
      domain_count: Type.Integer(),
      email_account_count: Type.Integer(),
      storage_statistics: shapes.StorageStatistics,
    },
    { title: 'OrganizationDetail' },
  )

export const organizationRoutes =
  (organizations: OrganizationService, domains: DomainLister): FastifyPluginAsyncTypebox =>
  async (app) => {
    const Detail = detailOfOrganization(domains.shape)
    const detailOf = async (organization: Awaited<ReturnType<OrganizationService['get']>>) => ({
      ...organization,
      domains: await domains.listOfOrganization(organization.id),
      storage_statistics: {
        total_storage_used: organization.total_storage_used,
        total_quota: organization.storage_quota,
        usage_percentage: percent(organization.total_storage_used, organization.storage_quota),
      },
    })

    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_organizations',
        summary: 'List organizations',
        querystring: shapes.OrganizationQuery,
        response: { 200: Success(Paginated(shapes.OrganizationListItem)) },
      },
      handler: async ({ query }) =>
        success(
          'Organizations retrieved successfully',
          await organizations.list(query, sortOf(query, 'name'), pageOf(query)),
        ),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: operator('admin'),
        validation: 'handler',
        errors: [errors.OrganizationIdTaken, errors.OrganizationExternalIdTaken],
      },
      schema: {
        operationId: 'create_organization',
        summary: 'Create an organization',
        body: shapes.NewOrganization,
        response: { 201: Success(shapes.Organization) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await organizations.create(caller, body)
        return reply.code(201).send(success('Organization created successfully', created))
      },
    })

    app.get('/by-external-id/:external_id', {
      config: { auth: key('read'), errors: [errors.OrganizationNotFound] },
      schema: {
        operationId: 'get_organization_by_external_id',
        summary: 'Get an organization by the id it has elsewhere',
        params: shapes.ExternalIdParams,
        response: { 200: Success(Detail) },
      },
      handler: async ({ caller, params }) => {
        const organization = await organizations.getByExternalId(caller, params.external_id)
        return success('Organization retrieved successfully', await detailOf(organization))
      },
    })

    app.get('/:organization_id', {
      config: { auth: key('read'), errors: [errors.OrganizationNotFound] },
      schema: {
        operationId: 'get_organization',
        summary: 'Get an organization with its domains',
        params: shapes.OrganizationParams,
        response: { 200: Success(Detail) },
      },
      handler: async ({ caller, params }) => {
        const organization = await organizations.get(caller, params.organization_id)
        return success('Organization retrieved successfully', await detailOf(organization))
      },
    })

    app.put('/:organization_id', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          errors.OrganizationNotFound,
          errors.OrganizationExternalIdTaken,
          errors.QuotaBelowUse,
        ],
      },
      schema: {
        operationId: 'update_organization',
        summary: 'Change an organization; tenants cannot change their limits or their suspension',
        params: shapes.OrganizationParams,
        body: shapes.OrganizationChange,
        response: { 200: Success(shapes.Organization) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Organization updated successfully',
          await organizations.update(caller, params.organization_id, body),
        ),
    })

    app.delete('/:organization_id', {
      config: {
        auth: operator('admin'),
        errors: [
          errors.OrganizationNotFound,
          errors.OrganizationNotEmpty,
          errors.OrganizationOnHold,
        ],
      },
      schema: {
        operationId: 'delete_organization',
        summary: 'Delete an organization without domains and mailboxes',
        params: shapes.OrganizationParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await organizations.remove(caller, params.organization_id)
        return done('Organization deleted successfully')
      },
    })

    app.get('/:organization_id/quotas', {
      config: { auth: key('read'), errors: [errors.OrganizationNotFound] },
      schema: {
        operationId: 'get_organization_quotas',
        summary: 'Get the quotas and the usage of an organization',
        params: shapes.OrganizationParams,
        response: { 200: Success(shapes.OrganizationQuotas) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Organization quota information retrieved successfully',
          await organizations.quotas(caller, params.organization_id),
        ),
    })

    app.put('/:organization_id/quotas', {
      config: {
        auth: operator('admin'),
        validation: 'handler',
        noData: errors.NoQuotaData,
        errors: [
          errors.OrganizationNotFound,
          errors.NoQuotaData,
          errors.QuotaBelowUse,
          errors.QuotaOverridden,
        ],
      },
      schema: {
        operationId: 'update_organization_quotas',
        summary: 'Set quotas as an operator; they become an override without force',
        params: shapes.OrganizationParams,
        querystring: shapes.QuotaForce,
        body: shapes.QuotaChange,
        response: { 200: Success(shapes.ChangedQuotas) },
      },
      handler: async ({ caller, params, query, body }) => {
        const { id, ...quotas } = await organizations.setQuotas(
          caller,
          params.organization_id,
          body,
          query.force ?? false,
        )
        return success('Organization quotas updated successfully', {
          organization_id: id,
          ...quotas,
        })
      },
    })

    app.post('/:organization_id/quotas/clear-override', {
      config: { auth: operator('admin'), errors: [errors.OrganizationNotFound] },
      schema: {
        operationId: 'clear_quota_override',
        summary: 'Clear the quota override; the values do not change',
        params: shapes.OrganizationParams,
        body: Body({
          reason: Type.String({ minLength: 1, description: 'Kept in the audit trail' }),
        }),
        response: { 200: Success(shapes.OverrideCleared) },
      },
      handler: async ({ caller, params }) => {
        await organizations.clearOverride(caller, params.organization_id)
        return success('Quota override cleared', {
          organization_id: params.organization_id,
          quota_override: false as const,
        })
      },
    })
  }
