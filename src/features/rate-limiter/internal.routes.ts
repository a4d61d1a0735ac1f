import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../access/labels.ts'
import type { InternalService } from './internal.service.ts'
import { RuleChange } from './rate-limiter.schemas.ts'

type Sent = Record<string, unknown>

const hidden = { hide: true } as const
const LimitsOf = Type.Object({
  ...RuleChange.properties,
  entity_type: Type.Optional(Type.Unknown()),
  identifier: Type.Optional(Type.Unknown()),
})

interface Needs {
  service: InternalService
  /** Answers a request of the policy protocol, attributes in and action out. */
  policy(text: string): Promise<string>
  stats(): object
}

/** Asked by other services of this installation; no part of the public API. */
export const internalRoutes =
  ({ service, policy, stats }: Needs): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addContentTypeParser(
      ['text/plain', 'application/octet-stream'],
      { parseAs: 'string' },
      (_request, body, done) => done(null, body),
    )
    const config = { auth: internal() }

    app.post('/check_rate_limit', {
      config,
      schema: hidden,
      handler: async (request, reply) => {
        const answer = await service.check((request.body ?? {}) as Sent)
        if (typeof answer === 'string') return reply.code(400).send({ error: answer })
        if ('suppressed' in answer) return reply.code(403).send(answer)
        const { refused, ...decision } = answer
        return reply.code(answer.allowed ? 200 : 429).send({ ...decision, ...refused })
      },
    })

    app.post('/increment_usage', {
      config,
      schema: hidden,
      handler: async (request, reply) => {
        const answer = await service.increment((request.body ?? {}) as Sent)
        if (typeof answer === 'string') return reply.code(400).send({ error: answer })
        return { success: true }
      },
    })

    app.get('/get_usage/:entity_type/:identifier', {
      config,
      schema: {
        ...hidden,
        params: Type.Object({ entity_type: Type.String(), identifier: Type.String() }),
        querystring: Type.Object({ direction: Type.Optional(Type.String()) }),
      },
      handler: async ({ params, query }) => ({
        success: true,
        ...(await service.usage(params.entity_type, params.identifier, query.direction)),
      }),
    })

    app.post('/set_limits', {
      config,
      schema: { ...hidden, body: LimitsOf },
      handler: async ({ body }) => {
        await service.setLimits(body)
        return { success: true, message: 'Rate limits updated successfully' }
      },
    })

    app.post('/reset_counters', {
      config,
      schema: hidden,
      handler: async ({ body }) => ({
        success: true,
        message: 'Counters reset successfully',
        ...(await service.reset((body ?? {}) as Sent)),
      }),
    })

    app.post('/policy', {
      config,
      schema: hidden,
      handler: async ({ body }, reply) =>
        reply
          .type('text/plain; charset=utf-8')
          .send(await policy(typeof body === 'string' ? body : '')),
    })

    app.get('/stats', { config, schema: hidden, handler: async () => stats() })
  }
