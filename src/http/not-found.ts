import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.ts'
import { sendError } from './error-handler.ts'

interface Pattern {
  matches: RegExp
  methods: Set<string>
}

/**
 * Answers requests that match no route. A missing or extra trailing slash is redirected with
 * method and body, OPTIONS lists the methods of a path, and a wrong method gets 405.
 */
export function handleNotFound(app: FastifyInstance): void {
  const patterns = new Map<string, Pattern>()
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = patterns.get(url) ?? { matches: toRegExp(url), methods: new Set() }
    patterns.set(url, pattern)
    for (const one of [method].flat()) pattern.methods.add(one)
  })
  const methodsOf = (path: string): string[] => {
    const matching = [...patterns.values()].filter(({ matches }) => matches.test(path))
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))]
  }

  // The router matches "/things/" with "/things/:id" and an empty id. The rest of a path may be empty.
  app.addHook('preParsing', (request, reply, payload, next) => {
    const params = Object.entries(request.params ?? {})
    if (params.some(([name, value]) => value === '' && name !== '*')) reply.callNotFound()
    else next(null, payload)
  })

  app.setNotFoundHandler((request, reply) => {
    const [path = '', query] = splitOnce(request.url, '?')
    const methods = methodsOf(path)
    if (methods.length > 0) {
      reply.header('allow', [...methods, 'OPTIONS'].join(', '))
      if (request.method === 'OPTIONS') return reply.code(204).send()
      return sendError(
        reply,
        request,
        new ApiError(405, `Method ${request.method} is not allowed here`),
      )
    }
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
    // A location that starts with "//" would lead to another host.
    if (!path.startsWith('//') && methodsOf(other).includes(request.method)) {
      return reply
        .code(307)
        .header('location', query === undefined ? other : `${other}?${query}`)
        .send()
    }
    return sendError(reply, request, new ApiError(404, 'Not found'))
  })
}

const toRegExp = (url: string): RegExp => {
  const source = url
    .split('/')
    .map((step) =>
      step.startsWith(':')
        ? '[^/]+'
        : step === '*'
          ? '.*'
          : step.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('/')
  return new RegExp(`^${source}$`)
}

const splitOnce = (text: string, separator: string): [string, string?] => {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
