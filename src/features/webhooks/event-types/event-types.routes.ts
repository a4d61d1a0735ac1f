import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { EventTypes } from './event-types.schemas.ts'
import { listEventTypes } from './event-types.service.ts'

export const eventTypeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    config: { auth: key('read') },
    schema: {
      operationId: 'list_webhook_event_types',
      summary: 'List the events that can be received, by name, with the shape of their data',
      response: { 200: Success(EventTypes) },
    },
    handler: async () => success('Event types retrieved', listEventTypes()),
  })
}
