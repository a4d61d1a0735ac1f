import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { FastifyPluginAsync } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { none } from '../access/labels.ts'

const LONG = { text: 'a'.repeat(5000) }
const routes: FastifyPluginAsync = async (app) => {
  const route = { config: { auth: none() }, schema: { hide: true } }
  app.get('/long', { ...route, handler: async () => LONG })
  app.get('/short', { ...route, handler: async () => ({ text: 'a' }) })
  app.get('/page', {
    ...route,
    handler: (_request, reply) => reply.type('text/html').send('a'.repeat(5000)),
  })
  app.post('/long', { ...route, handler: async () => LONG })
}

let app: App
beforeAll(async () => {
  app = await startApp({ features: [{ prefix: '/test', routes }] })
})
afterAll(() => app.stop())

/** Reads the bytes as they were sent. */
const ask = (method: string, path: string, accepted: string) =>
  new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const sent = request(`${app.base}/test${path}`, {
      method,
      headers: { 'accept-encoding': accepted },
    })
    sent.on('error', reject)
    sent.on('response', async (answer) => {
      const parts: Buffer[] = []
      for await (const part of answer) parts.push(part)
      resolve({ headers: answer.headers, bytes: Buffer.concat(parts) })
    })
    sent.end()
  })

describe('a long JSON answer to GET', () => {
  it.each(['gzip', 'deflate, gzip;q=0.5', 'br, gzip'])(
    'is compressed for Accept-Encoding: %s',
    async (accepted) => {
      const { headers, bytes } = await ask('GET', '/long', accepted)
      expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
      expect(headers['content-length']).toBe(String(bytes.length))
      expect(bytes.length).toBeLessThan(200)
      expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(LONG)
    },
  )

  it.each(['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0.000'])(
    'is sent as it is for Accept-Encoding: %s',
    async (accepted) => {
      const { headers, bytes } = await ask('GET', '/long', accepted)
      expect(headers['content-encoding']).toBeUndefined()
      expect(headers.vary).toBe('Accept-Encoding')
      expect(JSON.parse(bytes.toString())).toEqual(LONG)
    },
  )
})

it.each([
  ['GET', '/short', 'a short answer'],
  ['GET', '/page', 'an answer that is not JSON'],
  ['POST', '/long', 'an answer to a write, which may have a secret'],
])('%s %s is not compressed: %s', async (method, path) => {
  expect((await ask(method, path, 'gzip')).headers['content-encoding']).toBeUndefined()
})
