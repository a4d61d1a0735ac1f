import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Body, Nullable, OneOf, Success, success, Timestamp } from '../../../http/envelope.ts'
import { Paginated } from '../../../http/paging.ts'
import {
  ErasureBegun,
  ErasureUnderWay,
  IsSharedMailbox,
  LegalHoldActive,
  MailboxNotFound,
  NoErasureToCancel,
  NothingStored,
} from '../compliance.errors.ts'
import { Reason, RequestedBy, UserParams } from '../compliance.schemas.ts'
import type { ErasureService } from './erasure.service.ts'

const NewErasure = Body({
  requested_by: RequestedBy,
  reason: Type.Optional(Type.String({ maxLength: 2000, description: 'Stored in the audit log' })),
})

const DataErasure = Type.Object(
  {
    id: Type.String(),
    user_email: Type.String(),
    status: OneOf(['pending', 'soft_deleted', 'hard_deleted', 'cancelled']),
    requested_by: Type.String(),
    reason: Nullable(Type.String()),
    removed: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'Counts of removed items so far, by kind of data',
      },
    ),
    error_message: Nullable(Type.String({ description: 'Reason that the removal is postponed' })),
    soft_deleted_at: Timestamp,
    hard_delete_scheduled_at: Timestamp,
    hard_deleted_at: Nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'DataErasure' },
)

export const erasureRoutes =
  (erasures: ErasureService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/data-erasure/:user_email', {
      config: {
        auth: operator('owner'),
        errors: [NothingStored, MailboxNotFound, IsSharedMailbox, LegalHoldActive, ErasureUnderWay],
      },
      schema: {
        operationId: 'request_data_erasure',
        summary: 'Remove all data of a person in 30 days; a mailbox is deactivated now',
        params: UserParams,
        body: NewErasure,
        response: { 201: Success(DataErasure) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const requested = await erasures.request(caller, params.user_email, body)
        return reply.code(201).send(success('Data erasure scheduled', requested))
      },
    })

    app.get('/data-erasure/:user_email/status', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'get_data_erasure_status',
        summary: 'List the newest erasures of a person with the counts of removed items',
        params: UserParams,
        response: { 200: Success(Paginated(DataErasure)) },
      },
      handler: async ({ params }) =>
        success('Data erasures retrieved', await erasures.status(params.user_email)),
    })

    app.post('/data-erasure/:user_email/cancel', {
      config: { auth: operator('owner'), errors: [NoErasureToCancel, ErasureBegun] },
      schema: {
        operationId: 'cancel_data_erasure',
        summary: 'Cancel a scheduled erasure and reactivate the mailbox',
        params: UserParams,
        body: Body({ reason: Reason }),
        response: { 200: Success(DataErasure) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Data erasure cancelled',
          await erasures.cancel(caller, params.user_email, body.reason),
        ),
    })
  }
