import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { Nullable, OneOf, Success, success, Timestamp } from '../../../http/envelope.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { ComparedRecord, DomainParams } from '../domains.schemas.ts'
import type { VerifyDnsService } from './verify-dns.service.ts'

const Check = Type.Object(
  {
    status: OneOf(['pass', 'fail']),
    type: Type.String({ examples: ['MX'] }),
    name: Type.String({ examples: ['acme.example'] }),
    expected: Type.Optional(Type.String({ description: 'Exactly what to publish' })),
    actual: Type.Optional(Nullable(Type.String({ description: 'The published value' }))),
    found: Type.Optional(Type.Boolean()),
    policy: Type.Optional(Type.String({ examples: ['quarantine'] })),
    message: Type.Optional(Type.String({ description: 'Advice for fixing the record' })),
  },
  { title: 'DnsCheck' },
)

const Verification = Type.Object({
  domain: Type.String({ examples: ['acme.example'] }),
  verified: Type.Boolean({ description: 'Ownership is proven and all four records pass now' }),
  verified_at: Nullable(Timestamp),
  ownership_verified_at: Nullable(Timestamp),
  verification: Type.Object({
    mx: Check,
    spf: Check,
    dkim: Check,
    dmarc: Check,
    ownership: Check,
  }),
  records: Type.Array(ComparedRecord, {
    description:
      'Everything to publish and what DNS has of it; `verified` needs only the five above',
  }),
})

export const verifyDnsRoutes =
  (dns: VerifyDnsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id/verify-dns', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'verify_dns',
        summary: 'Compare the published DNS records with what they should be; proves the ownership',
        params: DomainParams,
        response: { 200: Success(Verification) },
      },
      handler: async ({ caller, params }) =>
        success('DNS verification completed', await dns.verify(caller, params.domain_id)),
    })
  }
