import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  type Auth,
  dashboardSession,
  key,
  mailboxSession,
  none,
  operator,
} from '../../src/access/labels.ts'
import type { Core } from '../../src/core.ts'
import type { Tx } from '../../src/database/database.ts'
import { ApiError, ServiceUnavailable, ValidationFailed } from '../../src/errors.ts'
import { Body, Nullable, OneOf, Success, success, Timestamp } from '../../src/http/envelope.ts'
import { PageQuery, Paginated, pageOf, paginated } from '../../src/http/paging.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { startApp } from './app.ts'

export const SECRET_OF_THE_INSIDE = 'password=hunter2 at 10.9.8.7'

export type Probe = Awaited<ReturnType<typeof startProbe>>

/** The API with extra test routes for every kind of schema, response and failure. */
export async function startProbe(env: Record<string, string> = {}) {
  const script: Script = { within: async () => {}, after: async () => {}, calls: 0 }
  const features = [
    { prefix: '/api/v1/probe', routes: shapes() },
    { prefix: '/api/v1/rows', routes: rows(() => app.core, script) },
  ]
  const app = await startApp({ env, features })
  return {
    ...app,
    script,
    async countRows(): Promise<number> {
      const names = app.core.db.selectFrom('settings').select('name').where('name', 'like', 'row-%')
      return (await names.execute()).length
    },
  }
}

/** The behaviour of the next requests to `/api/v1/rows`. */
interface Script {
  within(tx: Tx): Promise<void>
  after(): Promise<void>
  calls: number
}

const Thing = Type.Object({
  name: Type.String(),
  size: Type.Integer(),
  note: Nullable(Type.String()),
  color: Nullable(OneOf(['red', 'blue'])),
})

const shapes = (): FastifyPluginAsyncTypebox => async (app) => {
  const config = { auth: none() }
  app.get('/', {
    prefixTrailingSlash: 'slash',
    config,
    schema: {
      querystring: Type.Object({
        ...PageQuery,
        total: Type.Optional(Type.Integer({ default: 0 })),
        active: Type.Optional(Type.Boolean()),
        sort_by: Type.Optional(OneOf(['name', 'size'])),
        q: Type.Optional(Type.String()),
      }),
      response: {
        200: Success(
          Type.Object({
            ...Paginated(Type.Integer()).properties,
            offset: Type.Integer(),
            active: Nullable(Type.Boolean()),
            q: Nullable(Type.String()),
          }),
        ),
      },
    },
    handler: async ({ query }) => {
      const { total = 0, active = null, q = null } = query
      const page = pageOf(query)
      const all = Array.from({ length: total }, (_, index) => index)
      const items = all.slice(page.offset, page.offset + page.perPage)
      return success('OK', {
        ...paginated(items, total, page),
        offset: page.offset,
        active,
        q,
      })
    },
  })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    app.route({
      method,
      url: '/',
      prefixTrailingSlash: 'slash',
      config,
      schema: {
        body: Body({
          name: Type.String({ minLength: 1, maxLength: 20_000 }),
          size: Type.Optional(Type.Integer({ default: 1 })),
          note: Type.Optional(Nullable(Type.String())),
          color: Type.Optional(Nullable(OneOf(['red', 'blue']))),
        }),
        response: { 201: Success(Type.Any()) },
      },
      handler: async ({ body }, reply) => reply.code(201).send(success('Created', body)),
    })
  }
  app.get('/things/:thing_id', {
    config,
    schema: { response: { 200: Success(Type.Partial(Thing)) } },
    handler: async ({ params }) =>
      success('OK', { name: (params as { thing_id: string }).thing_id }),
  })
  app.delete('/things/:thing_id', {
    config,
    schema: { response: { 204: Type.Null() } },
    handler: async (_request, reply) => reply.code(204).send(null),
  })
  app.post('/no-body-schema', {
    config,
    schema: { response: { 200: Success(Type.Any()) } },
    handler: async ({ body }) => success('OK', { body: body ?? null }),
  })
  app.post('/rules', {
    config: { ...config, validation: 'handler' },
    schema: { body: Body({ name: Type.String() }), response: { 200: Success(Type.Any()) } },
    handler: async ({ body }) => {
      const errors = typeof body.name === 'string' ? [] : ['Name is required', 'Name must be text']
      if (errors.length > 0) throw new ValidationFailed(errors)
      return success('OK', body)
    },
  })
  app.post('/rules/list', {
    config: { ...config, validation: 'handler' },
    schema: { body: Type.Array(Type.String()), response: { 200: Success(Type.Any()) } },
    handler: async ({ body }) => success('OK', body),
  })
  app.get('/broken', {
    config,
    handler: async () => {
      throw new Error(SECRET_OF_THE_INSIDE)
    },
  })
  app.get('/away', {
    config,
    handler: async () => {
      throw new ServiceUnavailable('Probe worker unavailable')
    },
  })
}

/** Each request stores one row and its change event, for any caller and method. */
const rows =
  (core: () => Core, script: Script): FastifyPluginAsyncTypebox =>
  async (app) => {
    const labels: Record<string, Auth> = {
      anonymous: none(),
      key: key('write'),
      dashboard: dashboardSession(),
      operator: operator('operator'),
      mailbox: mailboxSession(),
    }
    for (const [who, auth] of Object.entries(labels)) {
      app.route({
        method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        url: `/${who}/:answer`,
        config: { auth },
        schema: {
          params: Type.Object({ answer: Type.Integer() }),
          response: {
            201: Success(Type.Object({ id: Type.String(), at: Timestamp, secret: Type.String() })),
            204: Type.Null(),
          },
        },
        handler: async ({ caller, params: { answer } }, reply) => {
          script.calls++
          const id = `row-${ulid()}`
          if (answer >= 400) throw new ApiError(answer, `Refused with ${answer}`)
          await core().change(caller, async (tx) => {
            await tx
              .insertInto('settings')
              .values({ name: id, value: Buffer.of(1) })
              .execute()
            await script.within(tx)
          })
          await script.after()
          if (answer === 204) return reply.code(204).send(null)
          const data = { id, at: core().now().toISOString(), secret: `shown-once-${id}` }
          return reply.code(201).send(success('Created', data))
        },
      })
    }
  }
