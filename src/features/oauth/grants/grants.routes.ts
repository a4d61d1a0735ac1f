import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { GrantEnded, GrantParams, GrantQuery, OauthGrant } from './grants.schemas.ts'
import { GrantNotFound, type GrantService } from './grants.service.ts'

export const grantRoutes =
  (grants: GrantService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/grants', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_oauth_grants',
        summary: 'List what programs may do for mailboxes, newest first',
        querystring: GrantQuery,
        response: { 200: Success(Paginated(OauthGrant)) },
      },
      handler: async ({ caller, query }) =>
        success('Grants retrieved', await grants.list(caller, query, pageOf(query))),
    })

    app.delete('/grants/:grant_id', {
      config: { auth: key('write'), audited: true, errors: [GrantNotFound] },
      schema: {
        operationId: 'end_oauth_grant',
        summary: 'End a grant; its program is refused from the next login on',
        params: GrantParams,
        response: { 200: Success(GrantEnded) },
      },
      handler: async ({ caller, params }) =>
        success('Grant ended', await grants.end(caller, params.grant_id)),
    })
  }
