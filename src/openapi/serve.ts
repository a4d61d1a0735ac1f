import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { none } from '../access/labels.ts'
import { collectRoutes } from './collect.ts'
import { openApiDocument } from './document.ts'

const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const START = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, persistAuthorization: true,
  tryItOutEnabled: true, displayRequestDuration: true, filter: true, validatorUrl: null,
  requestInterceptor(request) {
    const cookie = document.cookie.match(/svc_(?:operator_)?csrf=([^;]+)/)
    if (cookie) request.headers['X-CSRF-Token'] = cookie[1]
    return request
  },
})
`

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mailplane API reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`

/** `/openapi.json`, and a page to read it and try it at `/docs`; nothing is loaded from elsewhere. */
export function serveDescription(app: FastifyInstance): void {
  const routes = collectRoutes(app)
  let document: string | undefined
  app.get('/openapi.json', {
    config: { auth: none() },
    schema: { hide: true },
    handler: async (_request, reply) => {
      document ??= JSON.stringify(openApiDocument(routes))
      return reply.type('application/json; charset=utf-8').serializer(String).send(document)
    },
  })

  // The page's own package is a plugin that wants to make the description itself; its files do.
  const folder = join(
    dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')),
    'static',
  )
  const serveText = (url: string, type: string, read: () => string | Buffer) =>
    app.get(url, {
      config: { auth: none() },
      schema: { hide: true },
      handler: async (_request, reply) =>
        reply
          .header(
            'content-security-policy',
            "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
          )
          .type(type)
          .send(read()),
    })
  serveText('/docs', 'text/html; charset=utf-8', () => PAGE)
  serveText('/docs/start.js', 'text/javascript; charset=utf-8', () => START)
  for (const [file, type] of Object.entries(FILES)) {
    serveText(`/docs/${file}`, type, () => readFileSync(join(folder, file)))
  }
}
