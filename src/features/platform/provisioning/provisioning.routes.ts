import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import {
  FailuresQuery,
  ProvisioningFailure,
  ResourceParams,
  RetryBody,
  RetryQueued,
} from './provisioning.schemas.ts'
import { NotFailed, type ProvisioningService, ResourceNotFound } from './provisioning.service.ts'

export const provisioningRoutes =
  (provisioning: ProvisioningService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_provisioning_failures',
        summary: 'List mailboxes and domains that could not be provisioned, latest first',
        querystring: FailuresQuery,
        response: { 200: Success(Paginated(ProvisioningFailure)) },
      },
      handler: async ({ query }) =>
        success(
          'Provisioning failures retrieved',
          await provisioning.failures(query, pageOf(query)),
        ),
    })

    app.post('/:resource_type/:resource_id/retry', {
      config: { auth: operator('operator'), errors: [ResourceNotFound, NotFailed] },
      schema: {
        operationId: 'retry_provisioning_failure',
        summary: 'Retry the provisioning of a mailbox or domain',
        params: ResourceParams,
        body: RetryBody,
        response: { 200: Success(RetryQueued) },
      },
      handler: async ({ caller, params: { resource_type, resource_id } }) =>
        success(
          'Provisioning retry queued',
          await provisioning.retry(caller, resource_type, resource_id),
        ),
    })
  }
