import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key, operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { QueueCountChanged, QueuedMessageNotFound } from './queue.errors.ts'
import * as shapes from './queue.schemas.ts'
import type { QueueService } from './queue.service.ts'

const downstream = 'Queue service unavailable'
const reading = { auth: operator('support'), downstream }
const writing = { auth: operator('operator'), downstream }

export const queueRoutes =
  (queue: QueueService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/queue/status', {
      config: reading,
      schema: {
        operationId: 'get_queue_status',
        summary: 'The mail queue with counts',
        response: { 200: Success(shapes.QueueOverview) },
      },
      handler: async () => success('Queue status retrieved', await queue.status()),
    })

    app.get('/queue/domain/:domain', {
      config: reading,
      schema: {
        operationId: 'get_queue_of_domain',
        summary: 'Queued mail for recipients at a domain, hosted here or not',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.QueueOfDomain) },
      },
      handler: async ({ params }) =>
        success('Queue of the domain retrieved', await queue.ofDomain(params.domain)),
    })

    app.get('/mail-queue/deferred', {
      config: reading,
      schema: {
        operationId: 'list_deferred_messages',
        summary: 'Messages that will be tried again, and why they had to wait',
        response: { 200: Success(shapes.DeferredMessages) },
      },
      handler: async () => success('Deferred messages retrieved', await queue.deferred()),
    })

    app.get('/jobs/:domain', {
      config: reading,
      schema: {
        operationId: 'list_queue_jobs',
        summary: 'Every delivery still to be made to a domain, one for each recipient',
        params: shapes.DomainParams,
        response: { 200: Success(shapes.QueueJobs) },
      },
      handler: async ({ params }) =>
        success('Queue jobs retrieved', await queue.jobs(params.domain)),
    })

    app.get('/health', {
      config: reading,
      schema: {
        operationId: 'get_queue_health',
        summary: 'Health of the access to the mail queue',
        response: { 200: Success(shapes.QueueHealth) },
      },
      handler: async () => success('Queue is healthy', await queue.health()),
    })

    app.post('/mail-queue/flush', {
      config: writing,
      schema: {
        operationId: 'flush_queue',
        summary: 'Try deferred mail now: all of it, or what the filters name',
        body: shapes.FlushRequest,
        response: { 200: Success(shapes.Flushed) },
      },
      handler: async ({ caller, body }) => {
        const flushed = await queue.flush(caller, body)
        return success(flushed.message, flushed)
      },
    })

    app.post('/message/:queue_id/hold', {
      config: { ...writing, errors: [QueuedMessageNotFound] },
      schema: {
        operationId: 'hold_queued_message',
        summary: 'Keep a message from being delivered until it is released',
        params: shapes.MessageParams,
        body: shapes.OptionalReason,
        response: { 200: Success(shapes.ChangedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message put on hold', await queue.hold(caller, params.queue_id)),
    })

    app.post('/message/:queue_id/release', {
      config: { ...writing, errors: [QueuedMessageNotFound] },
      schema: {
        operationId: 'release_queued_message',
        summary: 'Let a message on hold be delivered, and try it now',
        params: shapes.MessageParams,
        body: shapes.OptionalReason,
        response: { 200: Success(shapes.ChangedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message released', await queue.release(caller, params.queue_id)),
    })

    app.post('/message/:queue_id/requeue', {
      config: { ...writing, errors: [QueuedMessageNotFound] },
      schema: {
        operationId: 'requeue_queued_message',
        summary: 'Let a deferred or held message pass through Postfix again, with current settings',
        params: shapes.MessageParams,
        body: shapes.ReasonRequest,
        response: { 200: Success(shapes.RequeuedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message requeued', await queue.requeue(caller, params.queue_id)),
    })

    app.get('/message/:queue_id', {
      config: { ...reading, errors: [QueuedMessageNotFound] },
      schema: {
        operationId: 'get_queued_message',
        summary: 'Envelope and header of a queued message, never its body',
        params: shapes.MessageParams,
        response: { 200: Success(shapes.MessageHeaders) },
      },
      handler: async ({ params }) =>
        success('Message retrieved', await queue.message(params.queue_id)),
    })

    app.get('/samples', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_queue_samples',
        summary: 'Length, size and age of the mail queue over time',
        querystring: shapes.SamplesQuery,
        response: { 200: Success(shapes.QueueSamples) },
      },
      handler: async ({ query }) =>
        success('Queue samples retrieved', await queue.samples(query.hours ?? 24)),
    })

    app.post('/messages', {
      config: writing,
      schema: {
        operationId: 'change_queued_messages',
        summary: 'Hold, release, requeue or delete up to 1000 messages by their ids',
        body: shapes.ManyRequest,
        response: { 200: Success(shapes.ManyChanged) },
      },
      handler: async ({ caller, body }) =>
        success('Messages changed', await queue.many(caller, body)),
    })

    app.post('/mail-queue/by-filter', {
      config: { ...writing, errors: [QueueCountChanged] },
      schema: {
        operationId: 'change_queue_by_filter',
        summary:
          'Count the messages that match a filter, then change them if the count still holds',
        body: shapes.FilterRequest,
        response: { 200: Success(shapes.FilterChange) },
      },
      handler: async ({ caller, body }) => {
        const { reason: _, ...filter } = body
        const isCount = filter.expected_count === undefined
        const changed = await queue.byFilter(caller, filter)
        return success(isCount ? 'Messages counted' : 'Messages changed', changed)
      },
    })

    app.get('/own', {
      config: { auth: key('read'), downstream },
      schema: {
        operationId: 'list_own_queue',
        summary: 'Mail that the logins of the organization have sent and that still waits',
        response: { 200: Success(shapes.OwnQueue) },
      },
      handler: async ({ caller }) => success('Waiting mail retrieved', await queue.own(caller)),
    })

    app.delete('/own/:queue_id', {
      config: { auth: key('write'), audited: true, downstream, errors: [QueuedMessageNotFound] },
      schema: {
        operationId: 'delete_own_queued_message',
        summary: 'Delete a waiting message of the organization; its sender gets no notice',
        params: shapes.MessageParams,
        body: shapes.ReasonRequest,
        response: { 200: Success(shapes.DeletedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message deleted', await queue.deleteOwn(caller, params.queue_id)),
    })

    app.delete('/message/:queue_id', {
      config: { ...writing, errors: [QueuedMessageNotFound] },
      schema: {
        operationId: 'delete_queued_message',
        summary: 'Delete a message from the queue; its sender gets no notice',
        params: shapes.MessageParams,
        body: shapes.DeleteRequest,
        response: { 200: Success(shapes.DeletedMessage) },
      },
      handler: async ({ caller, params }) =>
        success('Message deleted', await queue.delete(caller, params.queue_id)),
    })

    app.post('/mail-queue/by-sender', {
      config: writing,
      schema: {
        operationId: 'change_queue_of_sender',
        summary: 'Hold, release, requeue or delete all mail of a sender; counts only by default',
        body: shapes.SenderRequest,
        response: { 200: Success(shapes.SenderChange) },
      },
      handler: async ({ caller, body }) => {
        const changed = await queue.ofSender(caller, body)
        return success(changed.dry_run ? 'Messages counted' : 'Messages changed', changed)
      },
    })
  }
