import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { cursorOf, positionOf } from '../../http/cursor.ts'
import { Success, success } from '../../http/envelope.ts'
import { MessageNotFound } from '../message-trace/message-trace.errors.ts'
import * as shapes from './messages.schemas.ts'
import type { MessageService } from './messages.service.ts'

export const messageRoutes =
  (messages: MessageService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_messages',
        summary: 'Messages of the organization and their last state, newest first',
        description:
          'A message is listed once for each recipient. It belongs to the organization whose login sent it, else to that of its recipient.',
        querystring: shapes.MessageQuery,
        response: { 200: Success(shapes.MessagePage) },
      },
      handler: async ({ caller, query }) => {
        const { limit = shapes.MESSAGE_LIMIT, cursor, ...filter } = query
        const after = cursor === undefined ? {} : { after: positionOf(cursor) }
        const page = await messages.list(caller, { ...filter, ...after }, limit)
        return success('Messages retrieved', {
          messages: page.messages,
          next_cursor: page.next ? cursorOf(page.next) : null,
        })
      },
    })

    app.get('/:message_id', {
      config: { auth: key('read'), errors: [MessageNotFound] },
      schema: {
        operationId: 'get_message',
        summary: 'Everything that happened to one message of the organization, in order',
        params: shapes.OwnMessageParams,
        response: { 200: Success(shapes.OwnTimeline) },
      },
      handler: async ({ caller, params }) =>
        success('Message retrieved', await messages.get(caller, params.message_id)),
    })
  }
