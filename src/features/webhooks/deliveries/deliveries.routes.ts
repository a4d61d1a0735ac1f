import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { Delivery, DeliveryQuery } from './deliveries.schemas.ts'
import type { DeliveryService } from './deliveries.service.ts'

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
  }
