import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Success, success } from '../../../http/envelope.ts'
import { DomainAlreadyClaimed, DomainNotFound, DomainReserved } from '../domains.errors.ts'
import { Domain, DomainParams } from '../domains.schemas.ts'
import type { OwnershipService } from './ownership.service.ts'

const Vouching = Body({
  reason: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'Proof by which the ownership was established; stored in the audit trail',
  }),
})

export const ownershipRoutes =
  (ownership: OwnershipService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/:domain_id/verify-ownership', {
      config: {
        auth: operator('operator'),
        errors: [DomainNotFound, DomainReserved, DomainAlreadyClaimed],
      },
      schema: {
        operationId: 'verify_domain_ownership',
        summary: 'Confirm the ownership of a pending domain without its DNS record',
        params: DomainParams,
        body: Vouching,
        response: { 200: Success(Domain) },
      },
      handler: async ({ caller, params }) =>
        success('Domain ownership verified', await ownership.verify(caller, params.domain_id)),
    })
  }
