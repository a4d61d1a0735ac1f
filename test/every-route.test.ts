import { readFileSync } from 'node:fs'
import type { FastifyPluginAsync } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as access from '../src/access/access.errors.ts'
import { key, mailboxSession, operator, platform } from '../src/access/labels.ts'
import { type App, startApp } from './support/app.ts'
import { everyCaller } from './support/callers.ts'
import type { Answer } from './support/http.ts'
import { verdict } from './support/labels.ts'
import { probe } from './support/probes.ts'

// Labels that no listed route has yet, on routes of this test.
const probes = {
  'Key(read)': probe('/test/key-read', key('read')),
  'Key(write)': probe('/test/key-write', key('write')),
  'Key(admin)': probe('/test/key-admin', key('admin')),
  'Platform(read)': probe('/test/platform', platform()),
  'Operator(operator+)': probe('/test/operator', operator('operator')),
  'Operator(admin+)': probe('/test/admin', operator('admin')),
  'Mailbox session': probe('/test/mailbox', mailboxSession()),
}

const listed = readFileSync(new URL('../openapi/routes.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [route = '', label = ''] = line.split(/ {2}(?=[A-Z])/)
    const [method = '', path = ''] = route.split(/ +/)
    return { method, path, label }
  })
const probed = Object.entries(probes).flatMap(([label, { prefix }]) =>
  ['GET', 'POST'].map((method) => ({ method, path: prefix, label })),
)
const routes = [...listed, ...probed]

const ENDED_OPERATORS = ['expired operator session', 'owner from another address']

/** Logout accepts every session, in any state, and clears its cookies. */
const WIDER: Record<string, string[]> = {
  'GET /api/v1/auth/two-factor': ['partial dashboard session'],
  'POST /api/v1/auth/two-factor/setup': ['partial dashboard session'],
  'POST /api/v1/auth/two-factor/verify': ['partial dashboard session'],
  'POST /api/v1/auth/logout': [
    'partial dashboard session',
    'expired dashboard session',
    'partial operator',
    ...ENDED_OPERATORS,
  ],
  'POST /api/v1/platform/auth/logout': ['partial operator', ...ENDED_OPERATORS],
  'POST /api/v1/mailbox-auth/logout': ['expired mailbox session'],
}

const refusals = new Set(
  Object.values(access).flatMap((error) =>
    'described' in error && error !== access.InvalidLogin && error !== access.InvalidMfaCode
      ? [`${error.described.status} ${error.described.message}`]
      : [],
  ),
)

const outcome = ({ status, body }: Answer): string => {
  const answer = `${status} ${body?.msg}`
  if (refusals.has(answer)) return answer
  return status === 401 || status === 403 || status === 429 || status === 500 ? answer : 'in'
}

let app: App
let callers: Awaited<ReturnType<typeof everyCaller>>
beforeAll(async () => {
  app = await startApp({
    features: Object.values(probes),
    env: { SVC_SELF_SERVICE_KEYS: 'true' },
  })
  callers = await everyCaller(app)
})
afterAll(() => app.stop())

describe('every route', () => {
  it.each(routes.map(({ method, path, label }) => [`${method} ${path}`, label] as const))(
    '%s accepts the callers of label %s and refuses all others with the documented message',
    async (route, label) => {
      const [method = '', path = ''] = route.split(' ')
      const answers: Record<string, string> = {}
      const expected: Record<string, string> = {}
      for (const [caller, credential] of Object.entries(callers)) {
        const call = await credential()
        answers[caller] = outcome(await call(method, path.replaceAll(/\{\w+\}/g, 'nothing')))
        const isWider = WIDER[route]?.includes(caller) ?? false
        expected[caller] = isWider ? 'in' : verdict(label, method, caller)
      }
      expect(answers).toEqual(expected)
    },
  )

  it('is listed: the server has no route that is not in the list', async () => {
    const described = await app.send('GET', '/openapi.json')
    const served = Object.entries(described.body.paths as Record<string, object>)
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
      .filter((route) => !route.includes(' /test/'))
    expect(new Set(listed.map(({ method, path }) => `${method} ${path}`))).toEqual(new Set(served))
  })

  it('refuses HEAD with the status of GET', async () => {
    for (const { path, label } of routes.filter(({ method }) => method === 'GET')) {
      const target = path.replaceAll(/\{\w+\}/g, 'nothing')
      const { status } = await app.send('HEAD', target)
      expect(`${target} ${status === 401}`).toBe(`${target} ${label !== 'None'}`)
    }
  })

  it('refuses an unauthorized caller before it validates the body', async () => {
    const answer = await app.send('POST', '/api/v1/platform/operators', { raw: '{not json' })
    expect(answer).toMatchObject({ status: 401, body: { msg: 'Authentication required' } })
  })
})

describe('a route without an access label', () => {
  it('prevents the server from starting', async () => {
    const routesWithout: FastifyPluginAsync = async (scope) => {
      scope.get('/forgotten', async () => 'open to everybody')
    }
    await expect(
      startApp({ features: [{ prefix: '/test', routes: routesWithout }] }),
    ).rejects.toThrow('GET /test/forgotten does not say who may call it')
  })
})
