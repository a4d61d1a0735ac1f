import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../../access/labels.ts'
import { DEFAULT_DAYS } from '../window.ts'
import type { OverviewService } from './overview.service.ts'

const config = { auth: key('read') }
const hidden = { hide: true } as const
const DaysQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
})

/** The statistics of the service `dashboard`, with its own shape of answers. */
export const overviewRoutes =
  (overviews: OverviewService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/overview', {
      config,
      schema: { ...hidden, querystring: DaysQuery },
      handler: async ({ caller, query }) => ({
        success: true,
        data: await overviews.overview(caller, query.days ?? DEFAULT_DAYS),
      }),
    })

    app.get('/domains', {
      config,
      schema: { ...hidden, querystring: DaysQuery },
      handler: async ({ caller, query }) => ({
        success: true,
        data: await overviews.domains(caller, query.days ?? DEFAULT_DAYS),
      }),
    })

    app.get('/realtime', {
      config,
      schema: hidden,
      handler: async ({ caller }) => ({
        success: true,
        data: await overviews.realtime(caller),
      }),
    })
  }
