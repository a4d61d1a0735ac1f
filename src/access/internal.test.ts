import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type App, clientOf, INTERNAL_TOKEN, startApp } from '../../test/support/app.ts'
import { INTERNAL_TOKEN_FILE } from './internal.ts'

const apps: App[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop()
})
async function start(env: Record<string, string>) {
  const app = await startApp({ env })
  apps.push(app)
  return {
    file: join(app.dataDir, INTERNAL_TOKEN_FILE),
    status: (headers: Record<string, string> = {}, from?: string) =>
      clientOf(app, headers, undefined, from).get('/webhook/status'),
  }
}

const refused = { status: 401, body: { error: expect.stringContaining('Internal token required') } }

describe('the internal token', () => {
  it('is accepted in X-Internal-Token and as bearer token, and a wrong one is rejected', async () => {
    const { status } = await start({})
    expect(await status()).toMatchObject(refused)
    expect(await status({ 'x-internal-token': '' })).toMatchObject(refused)
    expect(await status({ authorization: `Basic ${INTERNAL_TOKEN}` })).toMatchObject(refused)
    for (const wrong of ['wrong', `${INTERNAL_TOKEN}x`, INTERNAL_TOKEN.toUpperCase()]) {
      for (const headers of [{ 'x-internal-token': wrong }, { authorization: `Bearer ${wrong}` }]) {
        expect(await status(headers as never)).toMatchObject({
          status: 401,
          body: { error: 'Invalid internal token' },
        })
      }
    }
    expect((await status({ 'x-internal-token': INTERNAL_TOKEN })).status).toBe(200)
    expect((await status({ authorization: `Bearer ${INTERNAL_TOKEN}` })).status).toBe(200)
  })

  it('is made at the first start, in a file that only its owner can read', async () => {
    const { file, status } = await start({ SVC_INTERNAL_TOKEN: '' })
    const token = readFileSync(file, 'utf8').trim()
    expect(token.length).toBeGreaterThanOrEqual(32)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await status({ 'x-internal-token': token })).status).toBe(200)
  })

  it.each([
    {},
    { host: 'localhost:5000' },
    { 'x-forwarded-for': '203.0.113.9' },
    { 'x-real-ip': '203.0.113.9' },
    { via: '1.1 proxy' },
    { origin: 'https://elsewhere.example' },
  ])('is required from loopback too, with the headers %j (S5)', async (headers) => {
    const { status } = await start({ SVC_INTERNAL_TOKEN: '' })
    expect(await status(headers as never)).toMatchObject(refused)
  })
})
