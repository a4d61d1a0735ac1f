import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { sortOf } from '../../../http/sorting.ts'
import { Reason } from '../security.schemas.ts'
import { InvalidAddress, NoBlockOfAddress, NoFailuresOfAddress } from './failed-auth.errors.ts'
import {
  AddressParams,
  Block,
  FailedAuth,
  FailedAuthQuery,
  FailedAuthSummary,
  LiftedBlock,
  MAX_HOURS,
  NewBlock,
  SummaryQuery,
} from './failed-auth.schemas.ts'
import type { FailedAuthService } from './failed-auth.service.ts'

export const failedAuthRoutes =
  (attempts: FailedAuthService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'list_failed_auth',
        summary: 'Failed logins, counted by address, account and service',
        querystring: FailedAuthQuery,
        response: { 200: Success(Paginated(FailedAuth)) },
      },
      handler: async ({ query: { page, per_page, sort_by, sort_dir, ...filter } }) => {
        const sort = sortOf({ sort_by, sort_dir }, 'last_attempt_at', 'desc')
        const found = await attempts.list(filter, sort, pageOf({ page, per_page }))
        return success('Failed authentication attempts retrieved', found)
      },
    })

    app.get('/summary', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'failed_auth_summary',
        summary: 'Who fails to log in, and where, over the last hours',
        querystring: SummaryQuery,
        response: { 200: Success(FailedAuthSummary) },
      },
      handler: async ({ query: { hours = 24 } }) =>
        success(
          'Failed authentication summary retrieved',
          await attempts.summary(Math.min(hours, MAX_HOURS)),
        ),
    })

    app.post('/:client_ip/block', {
      config: { auth: operator('operator'), errors: [InvalidAddress, NoFailuresOfAddress] },
      schema: {
        operationId: 'block_failed_auth_ip',
        summary: 'Refuse every login from an address for some minutes',
        params: AddressParams,
        body: NewBlock,
        response: { 200: Success(Block) },
      },
      handler: async ({ caller, params, body }) =>
        success('IP blocked', await attempts.block(caller, params.client_ip, body.minutes)),
    })

    app.delete('/:client_ip/block', {
      config: { auth: operator('operator'), errors: [InvalidAddress, NoBlockOfAddress] },
      schema: {
        operationId: 'unblock_failed_auth_ip',
        summary: 'Let an address log in again; what was counted stays',
        params: AddressParams,
        body: Reason,
        response: { 200: Success(LiftedBlock) },
      },
      handler: async ({ caller, params }) =>
        success('IP block lifted', await attempts.unblock(caller, params.client_ip)),
    })
  }
