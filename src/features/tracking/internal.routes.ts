import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { internal } from '../../access/labels.ts'
import type { Bounced } from './feedback/bounce-message.ts'
import type { FeedbackService } from './feedback/feedback.service.ts'
import type { InjectService } from './injector/inject.service.ts'
import { BounceReport, ComplaintReport, InjectRequest } from './internal.schemas.ts'
import { sendOn, sendPixel } from './recipients/public.routes.ts'
import type { PublicService } from './recipients/public.service.ts'
import { visitorOf } from './recipients/visitor-of.ts'
import { TrackingParams } from './tracking.schemas.ts'

// HTML pages and messages grow when they are encoded as JSON.
const MAX_PAGE_BYTES = 16 * 1024 * 1024

interface Needs {
  tracking: PublicService
  injecting: InjectService
  feedback: FeedbackService
}

/** Called by other services of this installation; not part of the public API. */
export const internalRoutes =
  ({ tracking, injecting, feedback }: Needs): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { auth: internal() }

    app.get('/open/:tracking_id', {
      config,
      schema: { hide: true, params: TrackingParams },
      handler: (request, reply) => {
        tracking.opened(request.params.tracking_id, visitorOf(request))
        return sendPixel(reply)
      },
    })

    app.get('/click/:tracking_id', {
      config,
      schema: { hide: true, params: TrackingParams },
      handler: async (request, reply) => sendOn(tracking, request, reply),
    })

    app.post('/api/tracking/inject', {
      config,
      bodyLimit: MAX_PAGE_BYTES,
      schema: { hide: true, body: InjectRequest },
      handler: async ({ body }) => injecting.inject(body),
    })

    app.post('/api/tracking/bounce', {
      config,
      bodyLimit: MAX_PAGE_BYTES,
      schema: { hide: true, body: BounceReport },
      handler: async ({ body }) => {
        const { eml_content, tracking_info, ...said } = body
        return eml_content === undefined
          ? feedback.bounce({ ...(said as Bounced), tracking_info })
          : feedback.bounceMessage(eml_content, tracking_info)
      },
    })

    app.post('/api/tracking/complaint', {
      config,
      schema: { hide: true, body: ComplaintReport },
      handler: async ({ body }) => feedback.complaint(body),
    })
  }
