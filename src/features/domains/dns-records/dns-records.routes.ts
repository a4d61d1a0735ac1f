import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { ComparedRecord, DomainParams } from '../domains.schemas.ts'
import type { DnsRecordsService } from './dns-records.service.ts'

const DnsRecords = Type.Object(
  {
    domain: Type.String({ examples: ['acme.example'] }),
    mail_host: Type.String({ examples: ['mail.host.example'] }),
    records: Type.Array(ComparedRecord, { description: 'In the zone of the domain' }),
    host_records: Type.Array(ComparedRecord, {
      description: 'In the zone of the mail host: its operator publishes them',
    }),
    zone_file: Type.String({
      description: 'The records of the domain in the format that DNS hosts import',
    }),
    checked_at: Nullable({ ...Timestamp, description: 'Null without `check`' }),
  },
  { title: 'DnsRecords' },
)

export const dnsRecordsRoutes =
  (dnsRecords: DnsRecordsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/dns-records', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'list_dns_records',
        summary: 'Everything that a well-run domain publishes, also as a zone file',
        params: DomainParams,
        querystring: Type.Object({
          check: Type.Optional(
            Type.Boolean({ description: 'Look up every record and show what DNS has' }),
          ),
        }),
        response: { 200: Success(DnsRecords) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'DNS records retrieved',
          await dnsRecords.get(caller, params.domain_id, query.check ?? false),
        ),
    })
  }
