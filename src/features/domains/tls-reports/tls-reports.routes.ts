import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { OneOf, Success, success, Timestamp } from '../../../http/envelope.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainParams } from '../domains.schemas.ts'
import { TLS_REPORT_DAYS } from './tls-reports.jobs.ts'
import type { TlsReportService } from './tls-reports.service.ts'

const Sessions = Type.Integer({ description: 'Sessions', examples: [5326] })

const TlsReport = Type.Object(
  {
    id: Type.String(),
    reporter: Type.String({
      description: 'As the sender names itself',
      examples: ['Example Inc.'],
    }),
    report_id: Type.String(),
    policy_type: OneOf(['sts', 'tlsa', 'no-policy-found']),
    starts_at: Timestamp,
    ends_at: Timestamp,
    successful: Sessions,
    failed: Sessions,
    failures: Type.Record(Type.String(), Type.Integer(), {
      description: 'Failed sessions by result type',
      examples: [{ 'certificate-expired': 3 }],
    }),
    received_at: Timestamp,
  },
  { title: 'TlsReport' },
)

const TlsReports = Type.Object(
  {
    domain: Type.String({ examples: ['acme.example'] }),
    days: Type.Integer(),
    report_count: Type.Integer(),
    successful: Sessions,
    failed: Sessions,
    failures: Type.Array(
      Type.Object({
        result_type: Type.String({ examples: ['certificate-expired'] }),
        sessions: Sessions,
      }),
      { description: 'Most frequent first' },
    ),
    reports: Type.Array(TlsReport, { description: 'The newest 100' }),
  },
  { title: 'TlsReports' },
)

export const tlsReportRoutes =
  (reports: TlsReportService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/tls-reports', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'list_tls_reports',
        summary: 'Reports of other hosts about TLS of their deliveries to a domain (TLS-RPT)',
        description:
          'Reports carry no proof of their sender: read them as hints. They are kept for 90 days.',
        params: DomainParams,
        querystring: Type.Object({
          days: Type.Optional(Type.Integer({ minimum: 1, maximum: TLS_REPORT_DAYS, default: 30 })),
        }),
        response: { 200: Success(TlsReports) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'TLS reports retrieved',
          await reports.get(caller, params.domain_id, query.days ?? 30),
        ),
    })
  }
