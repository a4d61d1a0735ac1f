import type { FastifyInstance } from 'fastify'
import type { Core } from '../core.ts'
import { parseJson } from '../lib/json.ts'
import { forThread } from '../lib/shared-bytes.ts'
import { taskIn } from '../lib/worker-pool.ts'

/** A larger body, which few routes accept, is parsed in a worker thread. */
const MAX_PARSED_HERE = 1024 * 1024
const TIME_LIMIT_MS = 10_000

const parseTask = taskIn<typeof import('../lib/parse-json.task.ts')>('lib/parse-json')

/** Parses JSON bodies strictly and keeps the raw bytes, which idempotency compares. */
export function readJsonBodies(app: FastifyInstance, { workers }: Pick<Core, 'workers'>): void {
  const refused = (message: string) =>
    Object.assign(new Error(message), { code: 'INVALID_JSON', statusCode: 400 })

  async function parsedInThread(body: Buffer, owner: string): Promise<unknown> {
    const limits = { owner, timeLimitMs: TIME_LIMIT_MS }
    const parsed = await workers.run(parseTask, forThread(body), limits)
    if ('refusal' in parsed) throw refused(parsed.refusal)
    return parsed.value
  }

  // Clients such as curl name a type for an empty body too; without a body the type means nothing.
  app.addHook('onRequest', async (request) => {
    if (request.headers['content-length'] === '0') delete request.headers['content-type']
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      request.rawBody = body
      if (body.length === 0) return done(null, undefined)
      if (body.length > MAX_PARSED_HERE) {
        const owner = request.caller.organizationId ?? 'internal routes'
        parsedInThread(body, owner).then((value) => done(null, value), done)
        return
      }
      try {
        done(null, parseJson(body))
      } catch (error) {
        done(refused((error as Error).message))
      }
    },
  )
}
