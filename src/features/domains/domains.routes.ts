import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TSchema } from 'typebox'
import { key } from '../../access/labels.ts'
import { DomainOnHold, MailboxBeingErased } from '../../hosting/held-mailboxes.ts'
import { Done, done, Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import {
  AllotmentExceeded,
  NoQuotaData,
  OrganizationNotFound,
  QuotaBelowUse,
  QuotaOverridden,
} from '../organizations/organizations.errors.ts'
import { QuotaForce } from '../organizations/organizations.schemas.ts'
import * as errors from './domains.errors.ts'
import * as shapes from './domains.schemas.ts'
import type { DomainService } from './domains.service.ts'

/** Account records of a domain, as the mailboxes feature shows them. */
export interface AccountLister {
  shape: TSchema
  listOfDomain(domainId: string): Promise<object[]>
}

export const domainRoutes =
  (domains: DomainService, accounts: AccountLister): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_domains',
        summary: 'List domains',
        querystring: shapes.DomainQuery,
        response: { 200: Success(Paginated(shapes.DomainListItem)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Domains retrieved successfully',
          await domains.list(
            caller,
            query.organization_id,
            query,
            sortOf(query, 'domain'),
            pageOf(query),
          ),
        ),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          OrganizationNotFound,
          errors.OrganizationIdRequired,
          AllotmentExceeded,
          errors.DomainAlreadyClaimed,
          errors.DomainReserved,
          errors.DomainExternalIdTaken,
        ],
      },
      schema: {
        operationId: 'create_domain',
        summary: 'Claim a domain; answers with the DNS records to publish',
        body: shapes.NewDomain,
        response: { 201: Success(shapes.CreatedDomain) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await domains.create(caller, body)
        return reply.code(201).send(success('Domain created successfully', created))
      },
    })

    app.get('/:domain_id', {
      config: { auth: key('read'), errors: [errors.DomainNotFound] },
      schema: {
        operationId: 'get_domain',
        summary: 'Get a domain with its DNS records, organization and first 50 mailboxes',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.DomainDetail(accounts.shape)) },
      },
      handler: async ({ caller, params }) => {
        const domain = await domains.detail(caller, params.domain_id)
        const email_accounts = await accounts.listOfDomain(domain.id)
        return success('Domain retrieved successfully', { ...domain, email_accounts })
      },
    })

    app.put('/:domain_id', {
      config: {
        auth: key('write'),
        validation: 'handler',
        errors: [
          errors.DomainNotFound,
          errors.DomainExternalIdTaken,
          QuotaBelowUse,
          AllotmentExceeded,
          QuotaOverridden,
        ],
      },
      schema: {
        operationId: 'update_domain',
        summary: 'Change a domain; its name and organization stay',
        params: shapes.DomainParams,
        body: shapes.DomainChange,
        response: { 200: Success(shapes.Domain) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Domain updated successfully',
          await domains.update(caller, params.domain_id, body),
        ),
    })

    app.delete('/:domain_id', {
      config: {
        auth: key('write'),
        errors: [errors.DomainNotFound, errors.DomainNotEmpty, DomainOnHold, MailboxBeingErased],
      },
      schema: {
        operationId: 'delete_domain',
        summary: 'Delete a domain without mailboxes; its aliases and SMTP credentials go with it',
        params: shapes.DomainParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await domains.remove(caller, params.domain_id)
        return done('Domain deleted successfully')
      },
    })

    app.get('/:domain_id/quotas', {
      config: { auth: key('read'), errors: [errors.DomainNotFound] },
      schema: {
        operationId: 'get_domain_quotas',
        summary: 'Get the quotas and the usage of a domain',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.DomainQuotas) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Domain quota information retrieved successfully',
          await domains.quotas(caller, params.domain_id),
        ),
    })

    app.put('/:domain_id/quotas', {
      config: {
        auth: key('write'),
        validation: 'handler',
        noData: NoQuotaData,
        errors: [
          errors.DomainNotFound,
          NoQuotaData,
          QuotaBelowUse,
          AllotmentExceeded,
          QuotaOverridden,
        ],
      },
      schema: {
        operationId: 'update_domain_quotas',
        summary: 'Set the quotas of a domain; those of an operator become an override',
        params: shapes.DomainParams,
        querystring: QuotaForce,
        body: shapes.QuotaChange,
        response: { 200: Success(shapes.ChangedQuotas) },
      },
      handler: async ({ caller, params, query, body }) =>
        success(
          'Domain quotas updated successfully',
          await domains.setQuotas(caller, params.domain_id, body, query.force ?? false),
        ),
    })
  }
