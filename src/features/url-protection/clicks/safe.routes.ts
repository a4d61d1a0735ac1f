import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { none } from '../../../access/labels.ts'
import type { Core } from '../../../core.ts'
import { limitAddresses } from '../../../http/address-limit.ts'
import { PAGE_HEADERS, unknownPage, verdictPage } from './pages.ts'
import type { SafeService } from './safe.service.ts'

/** Enough for a company behind one address. */
const PER_MINUTE = 300
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const
const BEFORE = '/safe/'

/** Called by people who click a link in their mail; the signature of the link is the only credential. */
export const safeRoutes =
  (safe: SafeService, { now }: Pick<Core, 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    limitAddresses(app, now, PER_MINUTE)
    // The fields of a form go to its target with the redirect; this service does not read them.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => {
      payload.resume()
      done(null)
    })
    const route = {
      config: { auth: none() },
      schema: { hide: true },
      handler: (request: FastifyRequest, reply: FastifyReply) => answer(safe, request, reply),
    }
    app.get(`${BEFORE}*`, route)
    app.post(`${BEFORE}*`, route)
  }

async function answer(safe: SafeService, request: FastifyRequest, reply: FastifyReply) {
  const { caller, headers, method } = request
  // The text of the request line: a decoded path would hide changes.
  const [path = '', ...rest] = (request.raw.url ?? '').slice(BEFORE.length).split('?')
  const visited = await safe.visit(path, rest.length === 0 ? undefined : rest.join('?'), {
    method,
    ip: caller.ip,
    userAgent: caller.userAgent,
    purpose: PURPOSES.map((name) => headers[name] ?? '').join(' '),
  })
  const language = headers['accept-language']
  if (!visited) return sendPage(reply, 404, unknownPage(language))
  if (visited.kind === 'redirect') {
    // A form keeps its method and its fields.
    return reply
      .code(method === 'POST' ? 307 : 302)
      .headers({ location: visited.location, 'x-robots-tag': 'noindex, nofollow' })
      .send()
  }
  const status = visited.verdict.verdict === 'blocked' ? 403 : 200
  return sendPage(reply, status, verdictPage(language, visited))
}

const sendPage = (reply: FastifyReply, status: number, page: string) =>
  reply.code(status).headers(PAGE_HEADERS).serializer(String).send(page)
