import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../src/access/labels.ts'
import { Success, success } from '../../src/http/envelope.ts'
import { DomainAlreadyExists, DomainNotFound } from './domains.errors.ts'
import { Domain, DomainParams, NewDomain } from './domains.schemas.ts'
import type { BenchDomainService } from './domains.service.ts'

export const benchDomainRoutes =
  (domains: BenchDomainService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:domain_id', {
      config: { auth: key('read'), errors: [DomainNotFound] },
      schema: {
        operationId: 'bench_get_domain',
        summary: 'Get a domain',
        params: DomainParams,
        response: { 200: Success(Domain) },
      },
      handler: async ({ caller, params }) =>
        success('Domain retrieved', await domains.get(caller, params.domain_id)),
    })

    app.post('', {
      config: { auth: key('write'), errors: [DomainAlreadyExists] },
      schema: {
        operationId: 'bench_create_domain',
        summary: 'Create a domain',
        body: NewDomain,
        response: { 201: Success(Domain) },
      },
      handler: async (request, reply) => {
        const created = await domains.create(request.caller, request.body)
        return reply.code(201).send(success('Domain created', created))
      },
    })
  }
