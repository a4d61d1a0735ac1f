import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { internal } from '../../access/labels.ts'
import { Unprocessable } from '../../errors.ts'
import { OneOf } from '../../http/envelope.ts'
import type { InternalService, Posted } from './internal.service.ts'

const MAX_BODY_BYTES = 72 * 1024 * 1024

const Envelope = Type.Object({
  organization_id: Type.Optional(Type.String()),
  sender: Type.Optional(Type.String({ maxLength: 320 })),
  recipient: Type.Optional(Type.String({ minLength: 3, maxLength: 320 })),
  direction: Type.Optional(OneOf(['inbound', 'outbound'])),
})

/** For other services of this installation; not part of the public API. */
export const internalRoutes =
  (archive: InternalService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { auth: internal() }
    app.addContentTypeParser('message/rfc822', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )

    /** The message itself with its envelope in the query, or JSON with the message in base64. */
    app.post('/archive', {
      config,
      bodyLimit: MAX_BODY_BYTES,
      schema: { hide: true, querystring: Envelope },
      handler: async ({ body, query }) => {
        if (Buffer.isBuffer(body)) {
          if (query.recipient === undefined) throw new Unprocessable('recipient is required')
          return archive.keep({ ...query, recipient: query.recipient }, body)
        }
        const sent = (body ?? {}) as Posted & { content?: unknown }
        if (typeof sent.recipient !== 'string' || typeof sent.content !== 'string') {
          throw new Unprocessable('recipient and content, in base64, are required')
        }
        return archive.keep(sent, Buffer.from(sent.content, 'base64'))
      },
    })

    app.get('/archive/spool', {
      config,
      schema: { hide: true },
      handler: async () => archive.spool(),
    })

    app.post('/archive/spool/drain', {
      config,
      schema: { hide: true },
      handler: async () => archive.drain(),
    })
  }
