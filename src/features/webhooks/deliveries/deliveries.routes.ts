import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { Delivery, DeliveryDetail, DeliveryParams, DeliveryQuery } from './deliveries.schemas.ts'
import { DeliveryNotFound, type DeliveryService } from './deliveries.service.ts'

export const deliveryRoutes =
  (deliveries: DeliveryService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_webhook_deliveries',
        summary: 'Every attempt to deliver an event, newest first',
        querystring: DeliveryQuery,
        response: { 200: Success(Paginated(Delivery)) },
      },
      handler: async ({ caller, query }) =>
        success('Delivery log retrieved', await deliveries.list(caller, query, pageOf(query))),
    })

    app.get('/:delivery_id', {
      config: { auth: key('read'), errors: [DeliveryNotFound] },
      schema: {
        operationId: 'get_webhook_delivery',
        summary: 'Get one attempt with the envelope that was sent',
        params: DeliveryParams,
        response: { 200: Success(DeliveryDetail) },
      },
      handler: async ({ caller, params }) =>
        success('Delivery retrieved', await deliveries.get(caller, params.delivery_id)),
    })
  }
