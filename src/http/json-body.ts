import type { FastifyInstance } from 'fastify'
import { parseJson } from '../lib/json.ts'

/** Bodies are JSON, read with care, and kept as they came for whoever compares them. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      request.rawBody = body
      if (body.length === 0) return done(null, undefined)
      try {
        done(null, parseJson(body))
      } catch (error) {
        done(Object.assign(error as Error, { code: 'INVALID_JSON', statusCode: 400 }))
      }
    },
  )
}
