import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key, operator } from '../../access/labels.ts'
import { NoDataProvided } from '../../errors.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './rate-limiter.errors.ts'
import * as shapes from './rate-limiter.schemas.ts'
import type { RateLimiterService } from './rate-limiter.service.ts'

const downstream = errors.UNAVAILABLE
const LOWERING =
  'A tenant can set limits below `operator_limits`; 0 leaves the limit of the operator. A platform key or an operator sets `operator_limits`.'
const updated = { success: true as const, message: 'Rate limits updated successfully' }

export const rateLimiterRoutes =
  (limits: RateLimiterService): FastifyPluginAsyncTypebox =>
  async (app) => {
    // Three paths for one rule; older clients use the last two.
    const ofDomain = [
      ['/rate-limits/domain/:domain', 'domain_rate_limits', 'Limits of a domain and their usage'],
      ['/quotas/domain/:domain', 'domain_rate_quotas', 'Alias of the route for one rule'],
    ] as const
    const readsDomain = [
      ...ofDomain,
      ['/rate-limits/usage/:domain', 'domain_rate_usage', 'Alias of the limits of a domain'],
    ] as const

    for (const [path, name, summary] of readsDomain) {
      app.get(path, {
        config: {
          auth: key('read'),
          errors: [errors.InvalidDirection, DomainNotFound],
          downstream,
        },
        schema: {
          operationId: `get_${name}`,
          summary,
          params: shapes.DomainParams,
          querystring: shapes.DirectionQuery,
          response: { 200: shapes.RateLimitState },
        },
        handler: async ({ caller, params, query }) => ({
          success: true as const,
          data: await limits.read(caller, 'domain', params.domain, query.direction),
        }),
      })
    }

    for (const [path, name] of ofDomain) {
      app.post(path, {
        config: {
          auth: key('write'),
          errors: [NoDataProvided, errors.InvalidDirection, DomainNotFound],
        },
        schema: {
          operationId: `set_${name}`,
          summary: 'Change the limits of a domain; what is not sent stays as it is',
          description: LOWERING,
          params: shapes.DomainParams,
          body: shapes.RuleChange,
          response: { 200: shapes.RuleUpdated },
        },
        handler: async ({ caller, params, body }) => {
          await limits.write(caller, 'domain', params.domain, body)
          return updated
        },
      })
    }

    app.get('/rate-limits/mailbox/:email', {
      config: {
        auth: key('read'),
        errors: [errors.InvalidDirection, errors.LimitedMailboxNotFound],
        downstream,
      },
      schema: {
        operationId: 'get_mailbox_rate_limits',
        summary: 'Limits of a mailbox and their usage',
        params: shapes.MailboxParams,
        querystring: shapes.DirectionQuery,
        response: { 200: shapes.RateLimitState },
      },
      handler: async ({ caller, params, query }) => ({
        success: true as const,
        data: await limits.read(caller, 'mailbox', params.email, query.direction),
      }),
    })

    app.post('/rate-limits/mailbox/:email', {
      config: {
        auth: key('write'),
        errors: [NoDataProvided, errors.InvalidDirection, errors.LimitedMailboxNotFound],
      },
      schema: {
        operationId: 'set_mailbox_rate_limits',
        summary: 'Change the limits of a mailbox; what is not sent stays as it is',
        description: LOWERING,
        params: shapes.MailboxParams,
        body: shapes.RuleChange,
        response: { 200: shapes.RuleUpdated },
      },
      handler: async ({ caller, params, body }) => {
        await limits.write(caller, 'mailbox', params.email, body)
        return updated
      },
    })

    app.get('/rate-limits/organization/:organization_id', {
      config: {
        auth: key('read'),
        errors: [errors.InvalidDirection, OrganizationNotFound],
        downstream,
      },
      schema: {
        operationId: 'get_organization_rate_limits',
        summary: 'Limits of an organization and their usage',
        params: shapes.OrganizationParams,
        querystring: shapes.DirectionQuery,
        response: { 200: shapes.RateLimitState },
      },
      handler: async ({ caller, params, query }) => ({
        success: true as const,
        data: await limits.read(caller, 'organization', params.organization_id, query.direction),
      }),
    })

    app.post('/rate-limits/organization/:organization_id', {
      config: {
        auth: operator('admin'),
        errors: [NoDataProvided, errors.InvalidDirection, OrganizationNotFound],
      },
      schema: {
        operationId: 'set_organization_rate_limits',
        summary: 'Change the limits of an organization; what is not sent stays as it is',
        params: shapes.OrganizationParams,
        body: shapes.RuleChange,
        response: { 200: shapes.RuleUpdated },
      },
      handler: async ({ caller, params, body }) => {
        await limits.write(caller, 'organization', params.organization_id, body)
        return updated
      },
    })

    app.post('/rate-limits/reset', {
      config: {
        auth: key('write'),
        validation: 'handler',
        noData: errors.InvalidEntityType,
        errors: [
          errors.InvalidEntityType,
          errors.MissingIdentifier,
          errors.InvalidResetDirection,
          errors.ResetByOperators,
          OrganizationNotFound,
          DomainNotFound,
          errors.LimitedMailboxNotFound,
        ],
        downstream,
      },
      schema: {
        operationId: 'reset_rate_limit_counters',
        summary: 'Start counting from zero; the rule stays',
        description:
          'Counters of an organization, and of a domain or mailbox that an operator has limited, are reset by operators only.',
        body: shapes.ResetBody,
        response: { 200: shapes.CountersReset },
      },
      handler: async ({ caller, body }) => ({
        success: true as const,
        message: 'Counters reset successfully',
        ...(await limits.reset(caller, body)),
      }),
    })
  }
