import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { cursorOf, positionOf } from '../../http/cursor.ts'
import { Success, success } from '../../http/envelope.ts'
import { PastDaysAway } from '../../outbound/clickhouse.ts'
import { MessageNotFound } from '../message-trace/message-trace.errors.ts'
import * as shapes from './messages.schemas.ts'
import type { MessageService } from './messages.service.ts'
import { SenderNotAllowed, TooManyWaiting } from './sending/sending.errors.ts'
import { Accepted, MessageBody } from './sending/sending.schemas.ts'
import type { SendingService } from './sending/sending.service.ts'

/** Attachments of 10 MB in base64, and the texts. */
const MAX_SEND_BODY = 20 * 1024 * 1024

export const messageRoutes =
  (messages: MessageService, sending: SendingService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read'), downstream: PastDaysAway.text },
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

    app.post('/', {
      prefixTrailingSlash: 'slash',
      bodyLimit: MAX_SEND_BODY,
      config: { auth: key('write'), errors: [SenderNotAllowed, TooManyWaiting, ...WORK_ERRORS] },
      schema: {
        operationId: 'send_message',
        summary: 'Send a message',
        description:
          'It is stored before the answer, and handed to the mail server afterwards. Limits, suppressions, tracking and the content filter apply as to mail of an SMTP credential. `Idempotency-Key` makes a repeated request safe.',
        body: MessageBody,
        response: { 202: Success(Accepted) },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(202).send(success('Message accepted', await sending.send(caller, body))),
    })

    app.get('/:message_id', {
      config: { auth: key('read'), downstream: PastDaysAway.text, errors: [MessageNotFound] },
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
