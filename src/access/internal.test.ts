import { afterEach, describe, expect, it } from 'vitest'
import { type App, clientOf, INTERNAL_TOKEN, startApp } from '../../test/support/app.ts'
import { internalGate } from './internal.ts'

const apps: App[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop()
})
async function start(env: Record<string, string>) {
  const app = await startApp({ env })
  apps.push(app)
  return (headers: Record<string, string> = {}, from?: string) =>
    clientOf(app, headers, undefined, from).get('/webhook/status')
}

const refused = { status: 401, body: { error: expect.stringContaining('Internal token required') } }

describe('the internal token', () => {
  it('lets in whoever has it, in either header, and nobody else', async () => {
    const status = await start({})
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

  it('is not asked for where there is none, of callers on this machine', async () => {
    const status = await start({ SVC_INTERNAL_TOKEN: '' })
    expect((await status()).status).toBe(200)
    expect((await status({ host: 'localhost:5000' })).status).toBe(200)
  })

  it.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'origin', 'host'])(
    'is asked for where there is none, of what came with %s',
    async (name) => {
      const status = await start({ SVC_INTERNAL_TOKEN: '' })
      expect(await status({ [name]: 'elsewhere.example' })).toMatchObject(refused)
    },
  )

  it('is asked for where there is none, on every other address', async () => {
    const status = await start({ SVC_INTERNAL_TOKEN: '', HOST: '0.0.0.0' })
    expect(await status()).toMatchObject(refused)
  })

  it('is asked for where there is none, in a process without the API', () => {
    const config = { HOST: '127.0.0.1', SVC_INTERNAL_TOKEN: undefined }
    const request = { headers: { host: '127.0.0.1' }, socket: { remoteAddress: '127.0.0.1' } }
    const letIn = (besideApi: boolean) => () =>
      internalGate(config, { besideApi })(request as never)
    expect(letIn(true)).not.toThrow()
    expect(letIn(false)).toThrow('Internal token required')
  })
})
