import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../access/labels.ts'
import { OneOf } from '../../http/envelope.ts'
import { WINDOWS } from './counters/windows.ts'
import type { InternalService } from './internal.service.ts'
import { RuleChange } from './rate-limiter.schemas.ts'

type Sent = Record<string, unknown>

const hidden = { hide: true } as const
const LimitsOf = Type.Object({
  ...RuleChange.properties,
  entity_type: Type.Optional(Type.Unknown()),
  identifier: Type.Optional(Type.Unknown()),
})

const MAX_BOUNDS = 16
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Name = Type.String({ minLength: 1, maxLength: 255 })
const Percent = Type.Number({ minimum: 0, maximum: 1000 })

/** The `Question` that another process of this installation sends. */
const QuestionBody = Type.Object({
  organizationId: Name,
  bounds: Type.Array(
    Type.Object({
      subject: Type.Object({
        organizationId: Name,
        type: OneOf(['organization', 'domain', 'mailbox', 'credential']),
        identifier: Name,
        direction: OneOf(['inbound', 'outbound']),
      }),
      limits: Type.Array(Count, { minItems: WINDOWS.length, maxItems: WINDOWS.length }),
      warning: Percent,
      critical: Percent,
    }),
    { maxItems: MAX_BOUNDS },
  ),
  messages: Count,
  recipients: Count,
  record: Type.Boolean(),
  instance: Type.Optional(Type.String({ maxLength: 1000 })),
  now: Count,
})

interface Needs {
  service: InternalService
  /** Answers a request of the policy protocol that is sent as text. */
  policy(text: string): Promise<string>
  stats(): object
}

/** Called by other services of this installation; not part of the public API. */
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

    app.post('/decide', {
      config,
      schema: { ...hidden, body: QuestionBody },
      handler: ({ body }) => service.decide(body),
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
