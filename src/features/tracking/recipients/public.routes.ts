import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { none } from '../../../access/labels.ts'
import { success } from '../../../http/envelope.ts'
import { InvalidTrackingId } from '../tracking.errors.ts'
import { TrackingParams, UnsubscribedAnswer, Unsubscription } from '../tracking.schemas.ts'
import { confirmation, PAGE_HEADERS, unknown, unsubscribed } from './pages.ts'
import { PIXEL, PIXEL_HEADERS } from './pixel.ts'
import type { PublicService } from './public.service.ts'
import { visitorOf } from './visitor-of.ts'

const MAX_BODY_BYTES = 64 * 1024

/** Called by recipients and their mail programs; the id in the path is the only credential. */
export const publicRoutes =
  (tracking: PublicService): FastifyPluginAsyncTypebox =>
  async (app) => {
    readAnyBody(app)

    app.get('/pixel/:tracking_id', {
      config: { auth: none() },
      schema: {
        operationId: 'get_tracking_pixel',
        summary: 'The tracking image that records an open; identical for every id',
        params: TrackingParams,
        produces: ['image/png'],
      },
      handler: (request, reply) => {
        tracking.opened(request.params.tracking_id, visitorOf(request))
        return sendPixel(reply)
      },
    })

    app.get('/click/:tracking_id', {
      config: { auth: none(), errors: [InvalidTrackingId] },
      schema: {
        operationId: 'follow_tracked_link',
        summary: 'Leads to the address that was stored for this link, and to no other',
        params: TrackingParams,
        response: { 302: Type.Null() },
      },
      handler: async (request, reply) => sendOn(tracking, request, reply),
    })

    app.get('/unsubscribe/:tracking_id', {
      config: { auth: none() },
      schema: {
        operationId: 'show_unsubscribe_page',
        summary: 'A page that asks for confirmation; it changes nothing',
        params: TrackingParams,
        produces: ['text/html'],
      },
      handler: async ({ params }, reply) =>
        reply.headers(PAGE_HEADERS).send(confirmation(await tracking.brandFor(params.tracking_id))),
    })

    app.post('/unsubscribe/:tracking_id', {
      bodyLimit: MAX_BODY_BYTES,
      config: { auth: none(), errors: [InvalidTrackingId] },
      schema: {
        operationId: 'unsubscribe',
        summary: 'No more mail from this sender: one click of RFC 8058, or the button of the page',
        description: 'Accepts any body. Returns a page for `Accept: text/html`.',
        params: TrackingParams,
        body: Unsubscription,
        response: { 200: UnsubscribedAnswer },
      },
      handler: async (request, reply) => {
        const { caller, params, body } = request
        const wantsPage = /\btext\/html\b/i.test(request.headers.accept ?? '')
        try {
          const visitor = visitorOf(request)
          const email = await tracking.unsubscribe(caller, params.tracking_id, visitor, body.reason)
          if (wantsPage)
            return await sendPage(
              reply,
              200,
              unsubscribed(await tracking.brandFor(params.tracking_id)),
            )
          const answer = { status: 'unsubscribed' as const, email }
          return { ...success('Unsubscribed', answer), ...answer }
        } catch (error) {
          if (!wantsPage || !(error instanceof InvalidTrackingId)) throw error
          return await sendPage(reply, 404, unknown())
        }
      },
    })
  }

const sendPage = (reply: FastifyReply, status: number, page: string) =>
  reply.code(status).headers(PAGE_HEADERS).serializer(String).send(page)

export const sendPixel = (reply: FastifyReply) => reply.headers(PIXEL_HEADERS).send(PIXEL)

export async function sendOn(
  tracking: PublicService,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { tracking_id } = request.params as { tracking_id: string }
  const url = await tracking.clicked(tracking_id, visitorOf(request), request.query as object)
  return reply.code(302).header('location', url).send()
}

/** Mail programs send any body; only a reason in JSON is used. */
function readAnyBody(app: Parameters<FastifyPluginAsyncTypebox>[0]): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    request.rawBody = body
    done(null, { ...reasonIn(body) })
  })
}

function reasonIn(body: Buffer): { reason?: string } {
  try {
    const { reason } = JSON.parse(body.toString('utf8')) as { reason?: unknown }
    const isText = typeof reason === 'string' && reason.isWellFormed() && !reason.includes('\0')
    return isText ? { reason } : {}
  } catch {
    return {}
  }
}
