import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key, operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import type { StatsService } from './stats/stats.service.ts'
import type { SuppressionService } from './suppressions/suppressions.service.ts'
import { BodyNotObject, MissingEmail, TrackedEmailNotFound } from './tracking.errors.ts'
import * as shapes from './tracking.schemas.ts'

export const trackingRoutes =
  (stats: StatsService, suppressions: SuppressionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/stats/domain/:domain', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'get_domain_tracking',
        summary: 'Opens, clicks and other events of a domain',
        params: shapes.DomainParams,
        querystring: shapes.DaysQuery,
        response: { 200: Success(shapes.DomainStatistics) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Domain statistics retrieved successfully',
          await stats.ofDomain(caller, params.domain, query.days ?? 30),
        ),
    })

    app.get('/stats/email/:email_id', {
      config: { auth: key('read'), errors: [TrackedEmailNotFound] },
      schema: {
        operationId: 'get_email_tracking',
        summary: 'Opens, clicks and other events of one message',
        params: shapes.EmailParams,
        response: { 200: Success(shapes.EmailStatistics) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Email statistics retrieved successfully',
          await stats.ofEmail(caller, params.email_id),
        ),
    })

    app.post('/suppress', {
      config: {
        auth: key('write'),
        validation: 'handler',
        noData: MissingEmail,
        noObject: BodyNotObject,
        invalidJson: BodyNotObject,
        errors: [MissingEmail, BodyNotObject, OrganizationNotFound],
      },
      schema: {
        operationId: 'suppress_address',
        summary: 'Send nothing more to an address',
        body: shapes.NewSuppression,
        response: { 200: Success(shapes.SuppressionAnswer) },
      },
      handler: async ({ caller, body }) => {
        if (!body.email) throw new MissingEmail()
        return success('Address suppressed', await suppressions.suppress(caller, body))
      },
    })

    app.delete('/suppress/:email', {
      config: { auth: key('write'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'unsuppress_address',
        summary: 'Let an address be sent to again',
        params: shapes.SuppressionParams,
        querystring: shapes.OrganizationQuery,
        response: { 200: Success(shapes.SuppressionAnswer) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Suppression removed',
          await suppressions.lift(caller, params.email, query.organization_id),
        ),
    })

    app.get('/suppressions', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_suppressions',
        summary: 'Suppressed addresses of all organizations',
        querystring: shapes.SuppressionQuery,
        response: { 200: Success(Paginated(shapes.Suppression)) },
      },
      handler: async ({ query: { page, per_page, ...filter } }) =>
        success(
          'Suppressions retrieved',
          await suppressions.list(
            filter,
            pageOf({ ...(page && { page }), ...(per_page && { per_page }) }),
          ),
        ),
    })

    app.post('/suppressions/bulk', {
      config: { auth: operator('operator'), errors: [OrganizationNotFound] },
      schema: {
        operationId: 'suppress_addresses',
        summary: 'Suppress up to 1000 addresses of an organization',
        body: shapes.BulkSuppression,
        response: { 200: Success(shapes.BulkAnswer) },
      },
      handler: async ({ caller, body }) => {
        const result = await suppressions.suppressMany(caller, body)
        const text = `${result.suppressed.length} of ${result.requested} addresses suppressed`
        return success(text, result)
      },
    })
  }
