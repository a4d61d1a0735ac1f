import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { GrantEnded, GrantParams, OauthGrant } from '../../oauth/grants/grants.schemas.ts'
import { GrantNotFound, type GrantService } from '../../oauth/grants/grants.service.ts'

/** Programs that the holder has signed in to. */
export const mailboxGrantRoutes =
  (grants: GrantService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/grants', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_grants',
        summary: 'List the programs with access to the own mailbox, newest first',
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(OauthGrant)) },
      },
      handler: async ({ caller, query }) =>
        success('Grants retrieved', await grants.listOwn(caller, pageOf(query))),
    })

    app.delete('/grants/:grant_id', {
      config: { auth: mailboxSession(), errors: [GrantNotFound] },
      schema: {
        operationId: 'end_mailbox_grant',
        summary: 'End the access of a program; it is refused from the next login on',
        params: GrantParams,
        response: { 200: Success(GrantEnded) },
      },
      handler: async ({ caller, params }) =>
        success('Grant ended', await grants.endOwn(caller, params.grant_id)),
    })
  }
