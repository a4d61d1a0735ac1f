import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { OneOf, Success, success, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainParams } from '../domains.schemas.ts'
import type { DnsHistoryService } from './dns-history.service.ts'
import { OUTCOMES } from './record-check.ts'

const outcome = (of: string) =>
  OneOf(OUTCOMES, {
    description: `${of}; unknown while DNS has not answered yet`,
    examples: ['pass'],
  })

const DnsChange = Type.Object(
  {
    mx: outcome('The MX record'),
    spf: outcome('The SPF record'),
    dkim: outcome('The record of the signing DKIM key'),
    dmarc: outcome('The DMARC record'),
    ownership: outcome('The proof of the ownership'),
    first_seen_at: { ...Timestamp, description: 'The first look with this result' },
    last_seen_at: { ...Timestamp, description: 'The last look with this result' },
  },
  { title: 'DnsChange' },
)

export const dnsHistoryRoutes =
  (history: DnsHistoryService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/dns-checks', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'list_dns_checks',
        summary: 'Results of the DNS checks of a domain and since when they hold, newest first',
        description:
          'A new entry begins when the result of a check differs from the one before; the last 100 are kept. DNS is looked at by `verify-dns`, and every six hours for domains whose ownership is proven.',
        params: DomainParams,
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(DnsChange)) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'DNS checks retrieved',
          await history.list(caller, params.domain_id, pageOf(query)),
        ),
    })
  }
