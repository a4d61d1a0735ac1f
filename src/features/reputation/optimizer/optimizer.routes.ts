import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../../access/labels.ts'
import type { FeedbackLoopService } from './feedback-loop.service.ts'
import { Bounce, Destination, Feedback, Limits, WarmUp } from './optimizer.schemas.ts'
import type { PacingService } from './pacing.service.ts'
import type { WarmingService } from './warming.service.ts'

interface Needs {
  pacing: PacingService
  warming: WarmingService
  feedback: FeedbackLoopService
}

/** For other services of this installation; not part of the public API. */
export const optimizerRoutes =
  ({ pacing, warming, feedback }: Needs): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { auth: internal() }
    const Domain = Type.Object({ domain: Type.String() })

    app.post('/check', {
      config,
      schema: { hide: true, body: Destination },
      handler: async ({ body }) => pacing.check(body),
    })

    app.post('/record', {
      config,
      schema: { hide: true, body: Destination },
      handler: async ({ body }) => pacing.record(body),
    })

    app.post('/bounce', {
      config,
      schema: { hide: true, body: Bounce },
      handler: async ({ body }) => feedback.bounce(body),
    })

    app.post('/feedback-loop', {
      config,
      schema: { hide: true, body: Feedback },
      handler: async ({ body }) => feedback.receive(body),
    })

    app.get('/reputation/:domain', {
      config,
      schema: {
        hide: true,
        params: Domain,
        querystring: Type.Object({ organization_id: Type.Optional(Type.String()) }),
      },
      handler: async ({ params, query }) =>
        feedback.reputation(params.domain, query.organization_id),
    })

    app.post('/warming/schedule', {
      config,
      schema: { hide: true, body: WarmUp },
      handler: async ({ body }) => warming.schedule(body),
    })

    app.get('/warming/schedule/:ip', {
      config,
      schema: { hide: true, params: Type.Object({ ip: Type.String() }) },
      handler: async ({ params }) => warming.find(params.ip),
    })

    app.get('/warming/status', {
      config,
      schema: { hide: true },
      handler: async () => warming.status(),
    })

    app.get('/isp-limits', {
      config,
      schema: { hide: true },
      handler: async () => pacing.limits(),
    })

    app.put('/isp-limits/:domain', {
      config,
      schema: { hide: true, params: Domain, body: Limits },
      handler: async ({ params, body }) => pacing.setLimit(params.domain, body),
    })

    app.get('/stats/:organization_id', {
      config,
      schema: { hide: true, params: Type.Object({ organization_id: Type.String() }) },
      handler: async ({ params }) => pacing.stats(params.organization_id),
    })
  }
