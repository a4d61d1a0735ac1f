import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Unprocessable } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { READ_ERRORS, SAVE_ERRORS } from '../script-store/script-store.ts'
import { BlockBody, BlockedParams, BlockedSenders } from './blocked-senders.schemas.ts'
import type { BlockedSenderService } from './blocked-senders.service.ts'

export const blockedSenderRoutes =
  (senders: BlockedSenderService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/blocked-senders', {
      config: { auth: mailboxSession(), errors: READ_ERRORS },
      schema: {
        operationId: 'mailbox_blocked_senders',
        summary: 'Senders whose mail goes to the Junk folder',
        response: { 200: Success(BlockedSenders) },
      },
      handler: async ({ caller }) =>
        success('Blocked senders retrieved successfully', await senders.list(caller)),
    })

    app.post('/blocked-senders', {
      config: { auth: mailboxSession(), errors: [...SAVE_ERRORS, Unprocessable] },
      schema: {
        operationId: 'block_sender',
        summary: 'Block a sender',
        body: BlockBody,
        response: { 200: Success(BlockedSenders) },
      },
      handler: async ({ caller, body }) => {
        const { isChanged, list } = await senders.block(caller, body.address)
        return success(isChanged ? 'Sender blocked' : 'Sender is already blocked', list)
      },
    })

    app.delete('/blocked-senders/:address', {
      config: { auth: mailboxSession(), errors: [...SAVE_ERRORS, Unprocessable] },
      schema: {
        operationId: 'unblock_sender',
        summary: 'No longer block a sender; mail that is in Junk stays there',
        params: BlockedParams,
        response: { 200: Success(BlockedSenders) },
      },
      handler: async ({ caller, params }) => {
        const { isChanged, list } = await senders.unblock(caller, params.address)
        return success(isChanged ? 'Sender unblocked' : 'Sender was not blocked', list)
      },
    })
  }
