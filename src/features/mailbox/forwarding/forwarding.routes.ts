import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Unprocessable } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { READ_ERRORS, SAVE_ERRORS } from '../script-store/script-store.ts'
import { ForwardingBody, ForwardingSettings } from './forwarding.schemas.ts'
import type { ForwardingService } from './forwarding.service.ts'

export const forwardingRoutes =
  (forwarding: ForwardingService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/forwarding', {
      config: { auth: mailboxSession(), errors: READ_ERRORS },
      schema: {
        operationId: 'mailbox_forwarding',
        summary: 'Forwarding of this mailbox',
        response: { 200: Success(ForwardingSettings) },
      },
      handler: async ({ caller }) =>
        success('Forwarding retrieved successfully', await forwarding.get(caller)),
    })

    app.put('/forwarding', {
      config: { auth: mailboxSession(), errors: [...SAVE_ERRORS, Unprocessable] },
      schema: {
        operationId: 'save_mailbox_forwarding',
        summary: 'Forward mail of this mailbox, or stop to',
        body: ForwardingBody,
        response: { 200: Success(ForwardingSettings) },
      },
      handler: async ({ caller, body }) =>
        success('Forwarding saved', await forwarding.save(caller, body)),
    })
  }
