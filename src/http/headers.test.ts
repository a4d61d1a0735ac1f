import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { readConfig } from '../config/index.ts'

const CONSOLE = 'https://console.example.com'

let closed: App
let open: App
beforeAll(async () => {
  closed = await startApp()
  open = await startApp({ env: { SVC_CORS_ORIGINS: `${CONSOLE}, http://localhost:5173` } })
})
afterAll(async () => {
  await closed.stop()
  await open.stop()
})

const ask = (app: App, origin: string, path = '/health') =>
  app.send('GET', path, { headers: { origin } })
const preflight = (app: App, origin: string, path = '/api/v1/auth/me') =>
  app.send('OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'x-api-key',
    },
  })
const corsHeaders = (answer: { headers: object }) =>
  Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))

describe('CORS', () => {
  it('sends no CORS header when no origin is configured', async () => {
    expect(corsHeaders(await ask(closed, CONSOLE))).toEqual([])
    expect(corsHeaders(await preflight(closed, CONSOLE))).toEqual([])
  })

  it.each([
    ['another host', 'https://evil.test'],
    ['another scheme', 'http://console.example.com'],
    ['another port', 'https://console.example.com:8443'],
    ['a longer name', 'https://console.example.com.evil.test'],
    ['no origin at all', 'null'],
  ])('sends no CORS header but Vary to %s', async (_what, origin) => {
    for (const answer of [await ask(open, origin), await preflight(open, origin)]) {
      expect(corsHeaders(answer)).toEqual([])
      expect(answer.headers.vary).toBe('Origin')
    }
  })

  it.each([['*'], ['console.example.com'], [`${CONSOLE}/`], [`${CONSOLE}, *`]])(
    'rejects %s as a configured origin',
    (SVC_CORS_ORIGINS) => {
      expect(() => readConfig({ SVC_CORS_ORIGINS })).toThrow(/^SVC_CORS_ORIGINS must be /)
    },
  )

  it('lets a configured origin read responses, errors included, with credentials', async () => {
    for (const path of ['/health', '/api/v1/auth/me', '/api/v1/nothing', '/api/v1/capabilities']) {
      const { headers } = await ask(open, CONSOLE, path)
      expect(headers).toMatchObject({
        'access-control-allow-origin': CONSOLE,
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      })
      expect(headers['access-control-expose-headers']).toContain('X-Correlation-Id')
      expect(headers['access-control-expose-headers']).toContain('X-Total-Count')
    }
  })

  it('answers preflight requests of a configured origin for every method and header', async () => {
    const answer = await preflight(open, 'http://localhost:5173')
    expect(answer).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': 'http://localhost:5173' },
    })
    const allowed = answer.headers['access-control-allow-methods']?.split(', ')
    expect(allowed).toEqual(expect.arrayContaining(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']))
    const headers = answer.headers['access-control-allow-headers']?.toLowerCase().split(', ')
    expect(headers).toEqual(
      expect.arrayContaining(['content-type', 'x-api-key', 'x-csrf-token', 'idempotency-key']),
    )
  })

  it('answers OPTIONS without a requested method with the methods of the path', async () => {
    const headers = { origin: CONSOLE }
    const known = await open.send('OPTIONS', '/api/v1/auth/me', { headers })
    expect(known).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } })
    expect(known.headers).not.toHaveProperty('access-control-allow-methods')
    const unknown = await open.send('OPTIONS', '/api/v1/nothing', { headers })
    expect(unknown).toMatchObject({ status: 404, body: { msg: 'Not found' } })
    expect((await open.send('POST', '/api/v1/nothing', { body: {} })).status).toBe(404)
  })

  it('counts preflight requests as requests without a route', async () => {
    await preflight(open, CONSOLE)
    const { text } = await open.send('GET', '/metrics')
    expect(text).toMatch(/requests_total\{method="OPTIONS",path="unmatched",status_code="204"\} \d/)
    expect(text).not.toContain('path="*"')
  })
})
