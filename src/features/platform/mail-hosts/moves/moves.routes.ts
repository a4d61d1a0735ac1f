import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../../access/labels.ts'
import { Success, success } from '../../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../../http/paging.ts'
import {
  AlreadyThere,
  MailboxNotPlaced,
  MailHostNotFound,
  MoveNotCancellable,
  MoveNotFound,
  NotABackend,
} from '../mail-hosts.errors.ts'
import { MailboxMove, MoveParams, MoveQuery, MovesStarted, NewMove } from './moves.schemas.ts'
import type { MoveService } from './moves.service.ts'

export const moveRoutes =
  (moves: MoveService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_mailbox_moves',
        summary: 'List moves of mailboxes between mail hosts, newest first',
        querystring: MoveQuery,
        response: { 200: Success(Paginated(MailboxMove)) },
      },
      handler: async ({ query: { page, per_page, ...filter } }) =>
        success('Mailbox moves retrieved', await moves.list(filter, pageOf({ page, per_page }))),
    })

    app.post('', {
      config: {
        auth: operator('operator'),
        errors: [MailboxNotPlaced, MailHostNotFound, NotABackend, AlreadyThere],
      },
      schema: {
        operationId: 'move_mailbox',
        summary: 'Move a mailbox to another mail host, with those that share folders with it',
        body: NewMove,
        response: { 202: Success(MovesStarted) },
      },
      handler: async (request, reply) => {
        const started = await moves.start(request.caller, request.body)
        return reply.code(202).send(success('Mailbox moves started', started))
      },
    })

    app.get('/:move_id', {
      config: { auth: operator('support'), errors: [MoveNotFound] },
      schema: {
        operationId: 'get_mailbox_move',
        summary: 'Get a move of a mailbox',
        params: MoveParams,
        response: { 200: Success(MailboxMove) },
      },
      handler: async ({ params }) =>
        success('Mailbox move retrieved', await moves.get(params.move_id)),
    })

    app.post('/:move_id/cancel', {
      config: { auth: operator('operator'), errors: [MoveNotFound, MoveNotCancellable] },
      schema: {
        operationId: 'cancel_mailbox_move',
        summary: 'Cancel a move before the mailbox changes its host',
        params: MoveParams,
        response: { 200: Success(MailboxMove) },
      },
      handler: async ({ caller, params }) =>
        success('Mailbox move cancelled', await moves.cancel(caller, params.move_id)),
    })
  }
