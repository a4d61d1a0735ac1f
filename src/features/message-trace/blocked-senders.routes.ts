import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { BlockedSenderNotFound } from './message-trace.errors.ts'
import {
  BlockedSender,
  BlockedSenderPage,
  BlockedSenderParams,
  BlockedSenderQuery,
  QUARANTINE_LIMIT,
} from './message-trace.schemas.ts'
import type { QuarantineService } from './quarantine.service.ts'

export const blockedSenderRoutes =
  (quarantine: QuarantineService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/blocked-senders', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_quarantine_blocked_senders',
        summary: 'Senders that were blocked with a quarantined message, newest first',
        querystring: BlockedSenderQuery,
        response: { 200: Success(BlockedSenderPage) },
      },
      handler: async ({ query: { limit = QUARANTINE_LIMIT, offset = 0, ...filter } }) =>
        success(
          'Blocked senders retrieved',
          await quarantine.listBlocks(filter, {
            limit,
            offset: Math.min(offset, Number.MAX_SAFE_INTEGER),
          }),
        ),
    })

    app.delete('/blocked-senders/:block_id', {
      config: { auth: operator('operator'), errors: [BlockedSenderNotFound] },
      schema: {
        operationId: 'unblock_quarantine_sender',
        summary: 'Accept mail of a blocked sender again, and send to it again',
        params: BlockedSenderParams,
        response: { 200: Success(BlockedSender) },
      },
      handler: async ({ caller, params }) =>
        success('Sender unblocked', await quarantine.unblock(caller, params.block_id)),
    })
  }
