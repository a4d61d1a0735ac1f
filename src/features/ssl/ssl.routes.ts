import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { pageOf } from '../../http/paging.ts'
import { sortOf } from '../../http/sorting.ts'
import { CertificateNotFound, NotOurDomain, RenewalUnavailable } from './ssl.errors.ts'
import {
  AcmeAccounts,
  Certificate,
  CertificatePage,
  CertificateQuery,
  DomainParams,
  Renewal,
  SslStatus,
  StatusQuery,
} from './ssl.schemas.ts'
import type { SslService } from './ssl.service.ts'

export const sslRoutes =
  (ssl: SslService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/status', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'get_ssl_status',
        summary: 'Number of certificates by state, and the accounts at the CA',
        querystring: StatusQuery,
        response: { 200: Success(SslStatus) },
      },
      handler: async ({ caller, query: { include_accounts = true } }) =>
        success('SSL status retrieved', await ssl.status(caller, include_accounts)),
    })

    app.get('/certificates', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_certificates',
        summary: 'Certificates, the next to end first',
        querystring: CertificateQuery,
        response: { 200: Success(CertificatePage) },
      },
      handler: async ({ query: { page, per_page, sort_by, sort_dir, ...filter } }) => {
        const sort = sortOf({ sort_by, sort_dir }, 'valid_until', 'asc')
        const found = await ssl.list(filter, sort, pageOf({ page, per_page }))
        return success('Certificates retrieved', found)
      },
    })

    app.get('/certificates/:domain', {
      config: { auth: operator('support'), errors: [CertificateNotFound] },
      schema: {
        operationId: 'get_certificate',
        summary: 'The newest certificate of a domain',
        params: DomainParams,
        response: { 200: Success(Certificate) },
      },
      handler: async ({ params }) => success('Certificate retrieved', await ssl.get(params.domain)),
    })

    app.post('/certificates/:domain/renew', {
      config: { auth: operator('operator'), errors: [NotOurDomain, RenewalUnavailable] },
      schema: {
        operationId: 'renew_certificate',
        summary: 'Obtain a certificate for a domain, or renew it before its time',
        params: DomainParams,
        body: Renewal,
        response: { 202: Success(Certificate) },
      },
      handler: async ({ caller, params }, reply) => {
        const certificate = await ssl.renew(caller, params.domain)
        return reply.code(202).send(success('Certificate renewal requested', certificate))
      },
    })

    app.get('/accounts', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_acme_accounts',
        summary: 'Accounts at the CA, the most used first',
        response: { 200: Success(AcmeAccounts) },
      },
      handler: async () => success('ACME accounts retrieved', await ssl.accounts()),
    })
  }
