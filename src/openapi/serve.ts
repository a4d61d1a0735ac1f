import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { none } from '../access/labels.ts'
import { VERSION } from '../version.ts'
import { collectRoutes } from './collect.ts'
import { openApiDocument } from './document.ts'
import { referencePage, START, STYLE } from './reference-page.ts'

const gzip = promisify(gzipWithCallback)

// Only the static files of the package are used: its plugin expects @fastify/swagger.
const PACKAGE = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'))
const file = (name: string) => () => readFile(join(PACKAGE, 'static', name))

const FILES: Record<string, { type: string; read: () => string | Promise<Buffer> }> = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', read: file('swagger-ui.css') },
  'page.css': { type: 'text/css; charset=utf-8', read: () => STYLE },
  'swagger-ui-bundle.js': {
    type: 'text/javascript; charset=utf-8',
    read: file('swagger-ui-bundle.js'),
  },
  'start.js': { type: 'text/javascript; charset=utf-8', read: () => START },
  'favicon-32x32.png': { type: 'image/png', read: file('favicon-32x32.png') },
}

/** The page names this version in the addresses of its files, so browsers may keep them. */
const filesVersion = () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
  return createHash('sha256')
    .update([VERSION, version, START, STYLE].join('\n'))
    .digest('hex')
    .slice(0, 12)
}

/** Serves `/openapi.json` and Swagger UI at `/docs`; nothing is loaded from other hosts. */
export function serveDescription(app: FastifyInstance): void {
  const routes = collectRoutes(app)
  const serve = (url: string, type: string, cache: string, read: Reader, policy?: string) => {
    const content = stored(read)
    app.get(url, {
      config: { auth: none() },
      schema: { hide: true },
      handler: async (request, reply) => {
        reply.headers({
          'cache-control': cache,
          ...(policy !== undefined && { 'content-security-policy': policy }),
        })
        return send(request, reply.type(type), await content())
      },
    })
  }
  serve('/openapi.json', 'application/json; charset=utf-8', REVALIDATED, () =>
    JSON.stringify(openApiDocument(routes)),
  )
  serve(
    '/docs',
    'text/html; charset=utf-8',
    REVALIDATED,
    () => referencePage(filesVersion()),
    POLICY,
  )
  for (const [name, { type, read }] of Object.entries(FILES)) {
    serve(`/docs/${name}`, type, KEPT, read, POLICY)
  }
}

const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
const REVALIDATED = 'no-cache'
const KEPT = 'public, max-age=31536000, immutable'

type Reader = () => string | Promise<Buffer>

interface Content {
  plain: Buffer
  gzipped: Buffer
  etag: string
}

/** Reads and compresses once, on the first request. */
function stored(read: Reader): () => Promise<Content> {
  let content: Promise<Content> | undefined
  return () => {
    content ??= prepare(read)
    return content
  }
}

async function prepare(read: Reader): Promise<Content> {
  const plain = Buffer.from(await read())
  const etag = `"${createHash('sha256').update(plain).digest('hex').slice(0, 32)}"`
  return { plain, gzipped: await gzip(plain), etag }
}

function send(request: FastifyRequest, reply: FastifyReply, { plain, gzipped, etag }: Content) {
  const varies = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ')
  reply.headers({ etag, vary: varies })
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
  if (!/\bgzip\b(?!;\s*q=0)/.test(String(request.headers['accept-encoding'] ?? ''))) {
    return reply.send(plain)
  }
  return reply.header('content-encoding', 'gzip').send(gzipped)
}
