import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { internal } from '../../access/labels.ts'
import type { Bounced } from './bounce-message.ts'
import type { FeedbackService } from './feedback.service.ts'
import type { InjectService } from './inject.service.ts'
import { BounceReport, ComplaintReport, InjectRequest } from './internal.schemas.ts'
import { sendOn, sendPixel } from './public.routes.ts'
import type { PublicService } from './public.service.ts'
import { TrackingParams } from './tracking.schemas.ts'
import { visitorOf } from './visitor-of.ts'

// Pages and messages; in JSON they are longer than they are.
const MAX_PAGE_BYTES = 16 * 1024 * 1024

interface Needs {
  tracking: PublicService
  injecting: InjectService
  feedback: FeedbackService
}

/** Asked by other services of this installation; no part of the public API. */
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
