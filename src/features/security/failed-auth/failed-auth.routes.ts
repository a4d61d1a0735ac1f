import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { sortOf } from '../../../http/sorting.ts'
import { Reason } from '../security.schemas.ts'
import { InvalidIp, NoBlockOfIp, NoFailuresOfIp } from './failed-auth.errors.ts'
import {
  Block,
  FailedAuth,
  FailedAuthQuery,
  FailedAuthSummary,
  IpParams,
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
        summary: 'List failed logins, counted by IP address, account and service',
        querystring: FailedAuthQuery,
        response: { 200: Success(Paginated(FailedAuth)) },
      },
      handler: async ({ query: { page, per_page, sort_by, sort_dir, ...filter } }) => {
        const sort = sortOf({ sort_by, sort_dir }, 'last_attempt_at', 'desc')
        const result = await attempts.list(filter, sort, pageOf({ page, per_page }))
        return success('Failed authentication attempts retrieved', result)
      },
    })

    app.get('/summary', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'failed_auth_summary',
        summary: 'Summarize failed logins of the last hours by IP address, account and service',
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
      config: { auth: operator('operator'), errors: [InvalidIp, NoFailuresOfIp] },
      schema: {
        operationId: 'block_failed_auth_ip',
        summary: 'Block every login from an IP address for some minutes',
        params: IpParams,
        body: NewBlock,
        response: { 200: Success(Block) },
      },
      handler: async ({ caller, params, body }) =>
        success('IP blocked', await attempts.block(caller, params.client_ip, body.minutes)),
    })

    app.delete('/:client_ip/block', {
      config: { auth: operator('operator'), errors: [InvalidIp, NoBlockOfIp] },
      schema: {
        operationId: 'unblock_failed_auth_ip',
        summary: 'Lift the block of an IP address; the counters stay',
        params: IpParams,
        body: Reason,
        response: { 200: Success(LiftedBlock) },
      },
      handler: async ({ caller, params }) =>
        success('IP block lifted', await attempts.unblock(caller, params.client_ip)),
    })
  }
