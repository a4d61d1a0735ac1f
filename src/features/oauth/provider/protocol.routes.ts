import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { none } from '../../../access/labels.ts'
import { PAGE_STYLE } from '../../../lib/html-page.ts'
import type { Current } from './current-provider.ts'
import { STYLE_PATH } from './page.ts'
import { ROUTES } from './routes.ts'

const DISCOVERY = '/.well-known/openid-configuration'
const USER_CODE = 'x-device-user-code'

const route = { config: { auth: none() }, schema: { hide: true } }

interface Needs {
  current(): Promise<Current>
  issuer: URL
  /** Counts the request; throws when there were too many. */
  admit(request: FastifyRequest): void
}

/** Hands the requests of the protocol to the provider, which reads their bodies itself, up to 56 kB. */
export const protocolRoutes =
  ({ admit, current, issuer }: Needs): FastifyPluginAsync =>
  async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))

    const send = async (request: FastifyRequest, reply: FastifyReply, url?: string) => {
      admit(request)
      const { handle } = await current()
      const { raw } = request
      // The provider builds addresses from these; a caller must not choose them.
      raw.headers['x-forwarded-host'] = issuer.host
      raw.headers['x-forwarded-proto'] = issuer.protocol.replace(':', '')
      delete raw.headers[USER_CODE]
      if (url !== undefined) raw.url = url
      withoutUserCode(raw)
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      reply.hijack()
      handle(raw, reply.raw)
    }

    const paths = Object.values(ROUTES)
    for (const path of [...paths, `${ROUTES.authorization}/*`, `${ROUTES.code_verification}/*`]) {
      if (path === ROUTES.device_authorization) continue
      app.route({
        ...route,
        method: ['GET', 'POST'],
        url: path,
        handler: (request, reply) => send(request, reply),
      })
    }
    for (const path of [DISCOVERY, '/.well-known/oauth-authorization-server']) {
      app.get(path, { ...route, handler: (request, reply) => send(request, reply, DISCOVERY) })
    }
    app.get(STYLE_PATH, {
      ...route,
      handler: (_request, reply) =>
        reply
          .header('cache-control', 'public, max-age=3600')
          .type('text/css; charset=utf-8')
          .send(PAGE_STYLE),
    })
  }

/** The provider would submit a code in the address with a script, which the pages do not allow. */
function withoutUserCode(raw: FastifyRequest['raw']): void {
  const [path, query] = (raw.url ?? '').split('?')
  if (path !== ROUTES.code_verification || !query || raw.method !== 'GET') return
  const code = new URLSearchParams(query).get('user_code')
  if (code !== null) raw.headers[USER_CODE] = code.slice(0, 32)
  raw.url = path
}
