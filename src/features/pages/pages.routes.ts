import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { none } from '../../access/labels.ts'
import { ApiError } from '../../errors.ts'
import { accepts, type StaticFiles } from '../../http/static-files.ts'
import type { BuiltFile, BuiltFiles } from './built-files.ts'
import { PAGE_HEADERS, pageHtml, preferencesOf, SURFACES, type Surface } from './page.ts'

const route = { config: { auth: none() }, schema: { hide: true } }

const FOREVER = 'public, max-age=31536000, immutable'
const AN_HOUR = 'public, max-age=3600'
const FILE_ROUTE = '/assets/*'
const HASHED = /-[A-Z0-9]{8}\.\w+$/

/** The files whose names have a hash. */
export const hashedFiles = ({ files }: BuiltFiles): StaticFiles => ({
  route: FILE_ROUTE,
  byUrl: new Map(
    [...files]
      .filter(([name]) => HASHED.test(name))
      .map(([name, { type, brotli }]) => [
        `/assets/${name}`,
        { contents: brotli, headers: { 'content-type': type, 'cache-control': FOREVER } },
      ]),
  ),
})

/** The pages of the surfaces, and the scripts, styles and pictures that they load. */
export const pageRoutes =
  ({ manifest, files }: BuiltFiles): FastifyPluginAsync =>
  async (app) => {
    const languages = Object.keys(manifest.scripts)
    const page = (surface: Surface) => (request: FastifyRequest, reply: FastifyReply) => {
      const { cookies, headers } = request
      const preferences = preferencesOf(languages, cookies, headers['accept-language'])
      return reply
        .headers(PAGE_HEADERS)
        .type('text/html; charset=utf-8')
        .send(pageHtml(manifest, surface, preferences))
    }
    app.get('/', { ...route, handler: page('start') })
    // The web app shows what the page of statistics would.
    app.get('/dashboard', { ...route, handler: (_request, reply) => reply.redirect('/app') })
    for (const surface of SURFACES) {
      if (surface === 'start') continue
      app.get(`/${surface}`, { ...route, handler: page(surface) })
      app.get(`/${surface}/*`, { ...route, handler: page(surface) })
    }
    app.get<{ Params: { '*': string } }>(FILE_ROUTE, {
      ...route,
      handler: (request, reply) => {
        const name = request.params['*']
        const file = files.get(name)
        // `reply.callNotFound` would answer 405, because the path has a route.
        if (!file) throw new ApiError(404, 'Not found')
        reply.header('cache-control', HASHED.test(name) ? FOREVER : AN_HOUR)
        return send(request, reply, file)
      },
    })
  }

const plainOf = promisify(gunzip)

function send(request: FastifyRequest, reply: FastifyReply, file: BuiltFile) {
  const accepted = String(request.headers['accept-encoding'] ?? '')
  reply.type(file.type).header('vary', 'Accept-Encoding')
  if (accepts(accepted, 'br')) return reply.header('content-encoding', 'br').send(file.brotli)
  if (accepts(accepted, 'gzip')) return reply.header('content-encoding', 'gzip').send(file.gzip)
  return plainOf(file.gzip)
}
