import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Unprocessable } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import { READ_ERRORS, SAVE_ERRORS } from '../script-store/script-store.ts'
import { VacationBody, VacationSettings } from './vacation.schemas.ts'
import type { VacationService } from './vacation.service.ts'

export const vacationRoutes =
  (vacation: VacationService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/vacation', {
      config: { auth: mailboxSession(), errors: READ_ERRORS },
      schema: {
        operationId: 'mailbox_vacation',
        summary: 'The vacation responder of this mailbox',
        response: { 200: Success(VacationSettings) },
      },
      handler: async ({ caller }) =>
        success('Vacation retrieved successfully', await vacation.get(caller)),
    })

    app.put('/vacation', {
      config: { auth: mailboxSession(), errors: [...SAVE_ERRORS, Unprocessable] },
      schema: {
        operationId: 'save_mailbox_vacation',
        summary: 'Set the vacation responder, or turn it off',
        body: VacationBody,
        response: { 200: Success(VacationSettings) },
      },
      handler: async ({ caller, body }) =>
        success('Vacation responder saved', await vacation.save(caller, body)),
    })
  }
