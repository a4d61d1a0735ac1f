import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { none } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { LINK_PAGE_HEADERS, LINK_PAGE_HTML } from './link-page.ts'
import { AddressHasAccount, LinkInvalid } from './links.errors.ts'
import { AcceptBody, LinkAccepted, LinkBody, LinkDetails, ResetRequest } from './links.schemas.ts'
import type { LinkService } from './links.service.ts'

/** For people who cannot sign in yet; the token of a mailed link is the only credential. */
export const linkRoutes =
  (links: LinkService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/link', {
      config: { auth: none() },
      schema: {
        operationId: 'show_link_page',
        summary: 'The page of an invitation or a password reset; it changes nothing by itself',
        produces: ['text/html'],
      },
      handler: (_request, reply) => reply.headers(LINK_PAGE_HEADERS).send(LINK_PAGE_HTML),
    })

    app.post('/links/inspect', {
      config: { auth: none(), errors: [LinkInvalid] },
      schema: {
        operationId: 'inspect_link',
        summary: 'Get the account of an invitation or a password reset',
        body: LinkBody,
        response: { 200: Success(LinkDetails) },
      },
      handler: async ({ body }) => success('OK', await links.inspect(body.token)),
    })

    app.post('/links/accept', {
      config: { auth: none(), audited: true, errors: [LinkInvalid, AddressHasAccount] },
      schema: {
        operationId: 'accept_link',
        summary: 'Set the password of an invitation or a password reset; every session ends',
        body: AcceptBody,
        response: { 200: Success(LinkAccepted) },
      },
      handler: async ({ caller, body }) =>
        success('Password set', await links.accept(caller, body)),
    })

    app.post('/password-reset', {
      config: { auth: none(), throttled: true },
      schema: {
        operationId: 'request_password_reset',
        summary: 'Mail a link to set a new password to a dashboard user',
        description: 'The answer does not say whether the address belongs to a user.',
        body: ResetRequest,
        response: { 200: Done },
      },
      handler: async ({ caller, body }) => {
        await links.requestReset(caller, body.email)
        return done('If the address belongs to a user, a link is on its way')
      },
    })
  }
