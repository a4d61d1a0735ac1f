import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { FeedbackReportNotFound } from './reputation.errors.ts'
import {
  DomainDetail,
  DomainParams,
  DomainQuery,
  DomainReputation,
  DomainsQuery,
  FeedbackDecision,
  FeedbackLoop,
  FeedbackParams,
  FeedbackQuery,
  IpReputation,
  IpsQuery,
  ReputationSummary,
  SummaryQuery,
} from './reputation.schemas.ts'
import type { ReputationService } from './reputation.service.ts'

export const reputationRoutes =
  (reputation: ReputationService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { auth: operator('support') }

    app.get('/domains', {
      config,
      schema: {
        operationId: 'list_domain_reputation',
        summary: 'The newest scores of domains, worst first',
        querystring: DomainsQuery,
        response: { 200: Success(Paginated(DomainReputation)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'overall_score')
        return success(
          'Domain reputation retrieved',
          await reputation.domains(filterOf(query), sort, pageOf(query)),
        )
      },
    })

    app.get('/domains/:domain', {
      config: { ...config, errors: [DomainNotFound] },
      schema: {
        operationId: 'get_domain_reputation',
        summary: 'Scores of a domain over time, and complaints about its mail',
        params: DomainParams,
        querystring: DomainQuery,
        response: { 200: Success(DomainDetail) },
      },
      handler: async ({ params, query }) =>
        success('Domain reputation retrieved', await reputation.domain(params.domain, query)),
    })

    app.get('/ips', {
      config,
      schema: {
        operationId: 'list_ip_reputation',
        summary: 'Reputation of IP addresses, worst first',
        querystring: IpsQuery,
        response: { 200: Success(Paginated(IpReputation)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'reputation_score')
        return success(
          'IP reputation retrieved',
          await reputation.ips(filterOf(query), sort, pageOf(query)),
        )
      },
    })

    app.get('/feedback-loops', {
      config,
      schema: {
        operationId: 'list_feedback_loops',
        summary: 'Complaints that providers passed on, newest first',
        querystring: FeedbackQuery,
        response: { 200: Success(Paginated(FeedbackLoop)) },
      },
      handler: async ({ query }) => {
        const sort = sortOf(query, 'created_at', 'desc')
        return success(
          'Feedback reports retrieved',
          await reputation.feedbackLoops(filterOf(query), sort, pageOf(query)),
        )
      },
    })

    app.put('/feedback-loops/:feedback_id', {
      config: { auth: operator('operator'), errors: [FeedbackReportNotFound] },
      schema: {
        operationId: 'update_feedback_loop',
        summary: 'Mark a feedback report as processed, or open it again',
        params: FeedbackParams,
        body: FeedbackDecision,
        response: { 200: Success(FeedbackLoop) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          body.processed ? 'Feedback report processed' : 'Feedback report opened again',
          await reputation.markFeedback(caller, params.feedback_id, body.processed),
        ),
    })

    app.get('/summary', {
      config,
      schema: {
        operationId: 'reputation_summary',
        summary:
          'Items that need attention: the worst domains and IP addresses, complaints, suppressions',
        querystring: SummaryQuery,
        response: { 200: Success(ReputationSummary) },
      },
      handler: async ({ query }) =>
        success('Reputation summary retrieved', await reputation.summary(query)),
    })
  }

type PageAndSort = 'page' | 'per_page' | 'sort_by' | 'sort_dir'

/** The filters of a query, without page and order. */
function filterOf<Query extends Partial<Record<PageAndSort, unknown>>>(query: Query) {
  const { page: _page, per_page: _size, sort_by: _by, sort_dir: _direction, ...filter } = query
  return filter
}
