import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { internal } from '../../../access/labels.ts'
import * as errors from './ingestion.errors.ts'
import * as schemas from './ingestion.schemas.ts'
import type { IngestionService } from './ingestion.service.ts'

// Clients may post whole messages, although only the headers are read.
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

const QUEUED = 'Webhook queued'
const TEST_QUEUED = 'Test webhook queued'
const queued = { status: 'success', message: QUEUED } as const

export const ingestionRoutes =
  (ingestion: IngestionService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/webhook/email/inbound', {
      bodyLimit: MAX_MESSAGE_BYTES,
      config: { auth: internal(), errors: [errors.NoEmlContent] },
      schema: {
        operationId: 'ingest_inbound_email',
        summary: 'Report a message that was received',
        body: schemas.InboundMessage,
        response: { 200: schemas.Queued(QUEUED) },
      },
      handler: async (request) => {
        await ingestion.inbound(request.caller, request.body)
        return queued
      },
    })

    app.post('/webhook/email/outbound', {
      bodyLimit: MAX_MESSAGE_BYTES,
      config: { auth: internal(), errors: [errors.NoEmlContent] },
      schema: {
        operationId: 'ingest_outbound_email',
        summary: 'Report a message that was sent',
        body: schemas.OutboundMessage,
        response: { 200: schemas.Queued(QUEUED) },
      },
      handler: async (request) => {
        await ingestion.outbound(request.caller, request.body)
        return queued
      },
    })

    app.post('/webhook/email/imap', {
      config: { auth: internal(), errors: [errors.InvalidAction] },
      schema: {
        operationId: 'ingest_imap_action',
        summary: 'Report what a mail client did to a message',
        body: schemas.ImapAction,
        response: { 200: schemas.Queued(QUEUED) },
      },
      handler: async (request) => {
        await ingestion.imap(request.caller, request.body)
        return queued
      },
    })

    app.post('/webhook/email/pop3', {
      config: { auth: internal(), errors: [errors.InvalidAction] },
      schema: {
        operationId: 'ingest_pop3_action',
        summary: 'Report what happened in a POP3 session',
        body: schemas.Pop3Action,
        response: { 200: schemas.Queued(QUEUED) },
      },
      handler: async (request) => {
        await ingestion.pop3(request.caller, request.body)
        return queued
      },
    })

    app.post('/alertmanager', {
      config: {
        auth: internal(),
        validation: 'handler',
        noData: errors.InvalidAlerts,
        invalidJson: errors.InvalidAlerts,
        errors: [errors.InvalidAlerts],
      },
      schema: {
        operationId: 'ingest_alerts',
        summary: 'Take the notification of an alert manager',
        body: schemas.Alerts,
        response: { 200: schemas.Forwarded },
      },
      handler: async (request) => ({
        status: 'success' as const,
        alerts_forwarded: await ingestion.alerts(request.caller, request.body),
      }),
    })

    app.post('/webhook/test', {
      config: { auth: internal() },
      schema: {
        operationId: 'ingest_test_event',
        summary: 'Send a test event to all matching endpoints',
        body: schemas.AnyJson,
        response: { 200: schemas.Queued(TEST_QUEUED) },
      },
      handler: async (request) => {
        await ingestion.test(request.caller, request.body)
        return { status: 'success', message: TEST_QUEUED } as const
      },
    })

    app.get('/webhook/status', {
      config: { auth: internal() },
      schema: {
        operationId: 'webhook_service_status',
        summary: 'Pending work of the webhooks service',
        response: { 200: schemas.Status },
      },
      handler: () => ingestion.status(),
    })
  }
