import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key, operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import * as errors from './dead-letters.errors.ts'
import * as shapes from './dead-letters.schemas.ts'
import type { DeadLetterService } from './dead-letters.service.ts'

export const deadLetterRoutes =
  (letters: DeadLetterService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_webhook_dead_letters',
        summary: 'Events that could not be delivered, newest first',
        querystring: shapes.DeadLetterQuery,
        response: { 200: Success(Paginated(shapes.DeadLetter)) },
      },
      handler: async ({ caller, query }) =>
        success('Dead letter queue retrieved', await letters.list(caller, query, pageOf(query))),
    })

    app.get('/:dead_letter_id', {
      config: { auth: operator('support'), errors: [errors.DeadLetterNotFound] },
      schema: {
        operationId: 'get_webhook_dead_letter',
        summary: 'Get a dead letter with its original envelope',
        params: shapes.DeadLetterParams,
        response: { 200: Success(shapes.DeadLetterDetail) },
      },
      handler: async ({ caller, params }) =>
        success('Dead letter retrieved', await letters.get(caller, params.dead_letter_id)),
    })

    app.get('/:dead_letter_id/mine', {
      config: { auth: key('read'), errors: [errors.DeadLetterNotFound] },
      schema: {
        operationId: 'get_own_webhook_dead_letter',
        summary: 'Get a dead letter of the own organization with its original envelope',
        description:
          'The envelope of a delivery to the global URL is shown to platform callers only.',
        params: shapes.DeadLetterParams,
        response: { 200: Success(shapes.DeadLetterDetail) },
      },
      handler: async ({ caller, params }) =>
        success('Dead letter retrieved', await letters.get(caller, params.dead_letter_id)),
    })

    app.post('/:dead_letter_id/replay', {
      config: {
        auth: operator('operator'),
        errors: [errors.DeadLetterNotFound, errors.CannotReplay],
      },
      schema: {
        operationId: 'replay_webhook_dead_letter',
        summary: 'Deliver the original envelope again',
        params: shapes.DeadLetterParams,
        body: shapes.Replay,
        response: { 200: Success(shapes.ReplayedLetter) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Dead letter re-queued for delivery',
          await letters.replay(caller, params.dead_letter_id),
        ),
    })

    app.post('/:dead_letter_id/replay-mine', {
      config: {
        auth: key('write'),
        errors: [errors.DeadLetterNotFound, errors.CannotReplay],
      },
      schema: {
        operationId: 'replay_own_webhook_dead_letter',
        summary: 'Deliver the original envelope of a dead letter of an own endpoint again',
        description: 'Platform callers get 404; they replay with a reason.',
        params: shapes.DeadLetterParams,
        response: { 200: Success(shapes.ReplayedLetter) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Dead letter re-queued for delivery',
          await letters.replayOwn(caller, params.dead_letter_id),
        ),
    })

    app.post('/:dead_letter_id/resolve', {
      config: {
        auth: operator('operator'),
        errors: [errors.DeadLetterNotFound, errors.CannotResolve],
      },
      schema: {
        operationId: 'resolve_webhook_dead_letter',
        summary: 'Mark a dead letter as resolved without delivering it',
        params: shapes.DeadLetterParams,
        body: shapes.Resolve,
        response: { 200: Success(shapes.ResolvedLetter) },
      },
      handler: async ({ caller, params }) =>
        success('Dead letter resolved', await letters.resolve(caller, params.dead_letter_id)),
    })

    // Two paths, because existing clients use either.
    for (const [path, operationId] of [
      ['/replay-bulk', 'replay_webhook_dead_letters_bulk'],
      ['/replay', 'replay_webhook_dead_letters'],
    ] as const) {
      app.post(path, {
        config: { auth: operator('operator') },
        schema: {
          operationId,
          summary: 'Deliver several original envelopes again; those that cannot be are named',
          body: shapes.BulkReplay,
          response: { 200: Success(shapes.ReplayedLetters) },
        },
        handler: async ({ caller, body }) => {
          const outcome = await letters.replayMany(caller, body.dead_letter_ids)
          const { replayed, requested } = outcome
          return success(`${replayed.length} of ${requested} dead letters re-queued`, outcome)
        },
      })
    }
  }
