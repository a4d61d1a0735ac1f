import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { none } from '../access/labels.ts'
import { type Deprecation, useDeprecation } from './deprecation.ts'
import { done } from './envelope.ts'

const DEPRECATED: Deprecation = {
  since: '2026-11-15',
  sunset: '2027-06-01',
  replacement: '/api/v1/new',
}

describe('a deprecation', () => {
  it.each([
    ['leaves less than six months', { sunset: '2027-05-01' }],
    ['ends before it begins', { sunset: '2026-01-01' }],
    ['has no day of removal', { sunset: 'some day' }],
    ['has no day of marking', { since: '' }],
  ])('stops the server from starting when it %s', (_what, change) => {
    const app = fastify()
    useDeprecation(app)
    const declare = () =>
      app.get('/old', {
        config: { auth: none(), deprecated: { ...DEPRECATED, ...change } },
        handler: async () => done('OK'),
      })
    expect(declare).toThrow('/old: at least six months lie between deprecation and sunset')
  })
})

describe('a deprecated route', () => {
  let app: App
  beforeAll(async () => {
    app = await startApp({
      features: [
        {
          prefix: '/api/v1/old',
          routes: async (scope) => {
            scope.get('/thing', {
              config: { auth: none(), deprecated: DEPRECATED },
              schema: { operationId: 'get_old_thing', summary: 'An old thing' },
              handler: async () => done('OK'),
            })
            scope.get('/failing', {
              config: { auth: none(), deprecated: DEPRECATED },
              handler: async () => {
                throw new Error('failed')
              },
            })
            scope.get('/current', { config: { auth: none() }, handler: async () => done('OK') })
          },
        },
      ],
    })
  })
  afterAll(() => app.stop())

  it.each([
    ['GET', '/api/v1/old/thing', 200],
    ['HEAD', '/api/v1/old/thing', 200],
    ['GET', '/api/v1/old/failing', 500],
  ])(
    'sends the deprecation headers on every response: %s %s (%i)',
    async (method, path, status) => {
      const answer = await app.send(method, path)
      expect(answer.status).toBe(status)
      expect(answer.headers).toMatchObject({
        deprecation: `@${Date.UTC(2026, 10, 15) / 1000}`,
        sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
        link: '</api/v1/new>; rel="successor-version"',
      })
    },
  )

  it('is marked in the API description', async () => {
    const { body } = await app.send('GET', '/openapi.json')
    expect(body.paths['/api/v1/old/thing'].get).toMatchObject({
      deprecated: true,
      'x-sunset': '2027-06-01',
    })
    expect(body.paths['/api/v1/old/current'].get.deprecated).toBeUndefined()
  })

  it('is the only route with these headers', async () => {
    const { headers } = await app.send('GET', '/api/v1/old/current')
    for (const name of ['deprecation', 'sunset', 'link']) expect(headers[name]).toBeUndefined()
  })
})
