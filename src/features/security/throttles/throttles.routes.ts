import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { NothingToLift } from './throttles.errors.ts'
import { LiftBody, Lifted, ThrottleEntry, ThrottleQuery } from './throttles.schemas.ts'
import type { ThrottleService } from './throttles.service.ts'

export const throttleRoutes =
  (throttles: ThrottleService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'list_throttles',
        summary: 'List the throttles and blocks that are in force, of IP addresses and accounts',
        querystring: ThrottleQuery,
        response: { 200: Success(Paginated(ThrottleEntry)) },
      },
      handler: async ({ query: { page, per_page, ...filter } }) =>
        success('Throttles retrieved', await throttles.list(filter, pageOf({ page, per_page }))),
    })

    app.post('/lift', {
      config: { auth: operator('operator'), errors: [NothingToLift] },
      schema: {
        operationId: 'lift_throttle',
        summary: 'Lift every throttle and block of an account or an IP address',
        body: LiftBody,
        response: { 200: Success(Lifted) },
      },
      handler: async ({ caller, body }) =>
        success('Throttle lifted', await throttles.lift(caller, body)),
    })
  }
