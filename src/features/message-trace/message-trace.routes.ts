import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { TOTAL_COUNT } from '../../http/paging.ts'
import { PastDaysAway } from '../../outbound/clickhouse.ts'
import {
  CannotDecide,
  MessageNotFound,
  MessageOnHold,
  MessageRefused,
  OffsetTooLarge,
  QuarantinedMessageNotFound,
} from './message-trace.errors.ts'
import {
  BlockedMessage,
  ListWithTotal,
  MessageParams,
  MessageTimeline,
  QUARANTINE_LIMIT,
  QuarantinedMessage,
  QuarantinePage,
  QuarantineParams,
  QuarantineQuery,
  Reason,
  TRACE_LIMIT,
  TRAIL_LIMIT,
  TraceQuery,
  TraceRow,
  TrailEvent,
  TrailQuery,
} from './message-trace.schemas.ts'
import type { QuarantineService } from './quarantine.service.ts'
import type { TraceService } from './trace.service.ts'

export const messageTraceRoutes =
  (trace: TraceService, quarantine: QuarantineService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/trace', {
      config: {
        auth: operator('support'),
        totalCount: true,
        downstream: PastDaysAway.text,
        errors: [OffsetTooLarge],
      },
      schema: {
        operationId: 'trace_messages',
        summary: 'Delivery results of messages and messages that are held back, newest first',
        querystring: TraceQuery,
        response: { 200: ListWithTotal(TraceRow) },
      },
      handler: async ({ query: { limit = TRACE_LIMIT, offset, ...filter } }, reply) => {
        const { rows, total, isExact } = await trace.search(filter, sliceOf(limit, offset))
        if (isExact) reply.header(TOTAL_COUNT, total)
        return reply.send({ ...success('Messages retrieved', rows), total })
      },
    })

    app.get('/trace/:msg_id', {
      config: {
        auth: operator('support'),
        downstream: PastDaysAway.text,
        errors: [MessageNotFound],
      },
      schema: {
        operationId: 'get_message_timeline',
        summary: 'Everything that happened to one message, in order',
        params: MessageParams,
        response: { 200: Success(MessageTimeline) },
      },
      handler: async ({ params }) =>
        success('Message retrieved', await trace.timeline('platform', params.msg_id)),
    })

    app.get('/audit', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_message_audit',
        summary: 'Actions of operators and failed logins, newest first',
        querystring: TrailQuery,
        response: { 200: ListWithTotal(TrailEvent) },
      },
      handler: async ({ query: { limit = TRAIL_LIMIT, offset, ...filter } }) => {
        const { rows, total } = await trace.audit(filter, sliceOf(limit, offset))
        return { ...success('Audit events retrieved', rows), total }
      },
    })

    app.get('/quarantine', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_quarantine',
        summary: 'Messages that are held back, newest first',
        querystring: QuarantineQuery,
        response: { 200: Success(QuarantinePage) },
      },
      handler: async ({ query }) => {
        const { limit = QUARANTINE_LIMIT, offset, status = 'quarantined', ...filter } = query
        const page = await quarantine.list({ ...filter, status }, sliceOf(limit, offset))
        return success('Quarantined messages retrieved', page)
      },
    })

    app.post('/quarantine/:quarantine_id/release', {
      config: {
        auth: operator('admin'),
        errors: [QuarantinedMessageNotFound, CannotDecide, MessageRefused],
        downstream: 'Mail server unavailable',
      },
      schema: {
        operationId: 'release_quarantined_message',
        summary: 'Deliver a message that was held back',
        params: QuarantineParams,
        body: Reason,
        response: { 200: Success(QuarantinedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message released', await quarantine.release(caller, params.quarantine_id)),
    })

    app.post('/quarantine/:quarantine_id/delete', {
      config: {
        auth: operator('operator'),
        errors: [QuarantinedMessageNotFound, CannotDecide, MessageOnHold],
      },
      schema: {
        operationId: 'delete_quarantined_message',
        summary: 'Drop a message that was held back, and nothing else',
        params: QuarantineParams,
        body: Reason,
        response: { 200: Success(QuarantinedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message deleted', await quarantine.delete(caller, params.quarantine_id)),
    })

    app.post('/quarantine/:quarantine_id/block', {
      config: {
        auth: operator('operator'),
        errors: [QuarantinedMessageNotFound, CannotDecide, MessageOnHold],
      },
      schema: {
        operationId: 'block_quarantined_message',
        summary:
          'Drop a message that was held back, and refuse its sender from outside from now on',
        params: QuarantineParams,
        body: Reason,
        response: { 200: Success(BlockedMessage) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Message blocked',
          await quarantine.block(caller, params.quarantine_id, body.reason),
        ),
    })
  }

/** A larger offset does not fit into a bigint of PostgreSQL; that page would be empty anyway. */
const sliceOf = (limit: number, offset = 0) => ({
  limit,
  offset: Math.min(offset, Number.MAX_SAFE_INTEGER),
})
