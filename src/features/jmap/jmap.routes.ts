import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { AuthenticationRequired } from '../../access/access.errors.ts'
import { mailProgram } from '../../access/labels.ts'
import { ApiError } from '../../errors.ts'
import { endStalledReader } from '../../http/stalled-reader.ts'
import { RequestRefused } from './core/errors.ts'
import type { JmapService } from './jmap.service.ts'

const route = { config: { auth: mailProgram() }, schema: { hide: true } }
const SENT_AT_ONCE = 1024 * 1024
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(;\s*charset=[\w-]+)?$/

interface BlobPath {
  accountId: string
  blobId: string
  name: string
}

/** The paths of RFC 8620; its own errors are problem details (RFC 7807). */
export const jmapRoutes =
  (service: JmapService): FastifyPluginAsync =>
  async (app) => {
    app.removeAllContentTypeParsers()
    // Bodies are read by the handlers, which know their limits.
    app.addContentTypeParser('*', (_request, body, done) => done(null, body))
    app.setErrorHandler(sendProblem)
    app.addHook('preClose', async () => service.endStreams())

    app.get('/.well-known/jmap', {
      ...route,
      handler: async (request, reply) => {
        reply.header('cache-control', 'no-cache, no-store, must-revalidate')
        return service.session(
          await service.login(request.caller, request.headers),
          baseOf(request),
        )
      },
    })

    app.post('/jmap', {
      ...route,
      handler: async (request, reply) => {
        const login = await service.login(request.caller, request.headers)
        const type = request.headers['content-type'] ?? ''
        const chunks = await service.run(login, type, request.body as Readable, baseOf(request))
        return sendJson(reply, chunks)
      },
    })

    app.post<{ Params: Pick<BlobPath, 'accountId'> }>('/jmap/upload/:accountId/', {
      ...route,
      handler: async (request, reply) => {
        const login = await service.login(request.caller, request.headers)
        const { accountId } = request.params
        const type = request.headers['content-type'] ?? ''
        const stored = await service.upload(login, accountId, type, request.body as Readable)
        return reply.code(201).send(stored)
      },
    })

    app.get<{ Params: BlobPath; Querystring: { accept?: string } }>(
      '/jmap/download/:accountId/:blobId/:name',
      {
        ...route,
        handler: async (request, reply) => {
          const login = await service.login(request.caller, request.headers)
          const { accountId, blobId, name } = request.params
          const { type, size, body } = await service.download(login, accountId, blobId)
          endStalledReader(reply.raw, service.stallMs)
          return reply
            .headers({ ...DOWNLOAD_HEADERS, ...(size !== undefined && { 'content-length': size }) })
            .header('content-disposition', `attachment; filename*=UTF-8''${encodeName(name)}`)
            .type(typeOf(request.query.accept, type))
            .send(body)
        },
      },
    )

    app.get<{ Querystring: { types?: string; closeafter?: string; ping?: string } }>(
      '/jmap/eventsource',
      {
        ...route,
        handler: async (request, reply) => {
          const login = await service.login(request.caller, request.headers)
          const { types = '*', closeafter = 'no', ping = '0' } = request.query
          await stream(reply, () =>
            service.stream(reply.raw, login, { types, closeafter, ping: Number(ping) || 0 }),
          )
        },
      },
    )
  }

/** A large answer is sent in chunks, as the program takes it. */
function sendJson(reply: FastifyReply, chunks: readonly Buffer[]) {
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  reply.type('application/json; charset=utf-8').header('content-length', size)
  if (size <= SENT_AT_ONCE) return reply.send(Buffer.concat(chunks))
  return reply.send(Readable.from(chunks, { objectMode: false }))
}

/** A message is written by strangers: a browser must neither show nor run it in this origin. */
const DOWNLOAD_HEADERS = {
  'cache-control': 'private, immutable, max-age=31536000',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
}

const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const typeOf = (asked: string | undefined, own: string): string =>
  [asked, own].find((type) => type !== undefined && MEDIA_TYPE.test(type)) ??
  'application/octet-stream'

/** The host that the program has called, unless the operator has set one. */
const baseOf = ({ headers, protocol }: FastifyRequest): string =>
  `${protocol}://${headers.host ?? 'localhost'}`

async function stream(reply: FastifyReply, serve: () => Promise<void>): Promise<void> {
  const headers = { ...reply.getHeaders(), 'x-accel-buffering': 'no' } as Record<string, string>
  reply.hijack()
  reply.raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
  })
  reply.raw.flushHeaders()
  await serve()
}

function sendProblem(error: Error, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof RequestRefused) {
    return reply.code(error.status).type('application/problem+json').send(JSON.stringify(error))
  }
  if (!(error instanceof ApiError) || error.status >= 500) throw error
  const isUnauthorized = error instanceof AuthenticationRequired || error.status === 401
  // The web app has its own sign-in; a browser would ask for a password in a dialog of its own.
  if (isUnauthorized && request.headers['x-session'] === undefined) {
    reply.header('www-authenticate', 'Basic realm="JMAP", charset="UTF-8"')
  }
  const problem = { type: 'about:blank', status: error.status, detail: error.message }
  return reply
    .code(error.status)
    .headers(error.headers ?? {})
    .type('application/problem+json')
    .send(JSON.stringify(problem))
}
