import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { NoDataProvided } from '../../errors.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './rate-limiter.errors.ts'
import * as shapes from './rate-limiter.schemas.ts'
import type { RateLimiterService } from './rate-limiter.service.ts'

const downstream = errors.UNAVAILABLE
const updated = { success: true as const, message: 'Rate limits updated successfully' }

export const rateLimiterRoutes =
  (limits: RateLimiterService): FastifyPluginAsyncTypebox =>
  async (app) => {
    // The same rule under three names; the older clients know the last two.
    const ofDomain = [
      ['/rate-limits/domain/:domain', 'domain_rate_limits', 'Limits of a domain and their usage'],
      ['/quotas/domain/:domain', 'domain_rate_quotas', 'The same rule under its other name'],
    ] as const
    const readsDomain = [
      ...ofDomain,
      ['/rate-limits/usage/:domain', 'domain_rate_usage', 'The same as the limits of a domain'],
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
        params: shapes.MailboxParams,
        body: shapes.RuleChange,
        response: { 200: shapes.RuleUpdated },
      },
      handler: async ({ caller, params, body }) => {
        await limits.write(caller, 'mailbox', params.email, body)
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
          OrganizationNotFound,
          DomainNotFound,
          errors.LimitedMailboxNotFound,
        ],
        downstream,
      },
      schema: {
        operationId: 'reset_rate_limit_counters',
        summary: 'Start counting from zero; the rule stays',
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
