import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type App, newIp, startApp } from '../../test/support/app.ts'
import { startCuttingProxy } from '../../test/support/cutting-proxy.ts'
import { cloneDatabase } from '../../test/support/postgres.ts'
import { BROWSER } from '../../test/support/tracked.ts'
import { waitFor } from '../../test/support/wait.ts'
import { signingKey } from '../features/url-protection/links/link-keys.ts'
import { safePath } from '../features/url-protection/links/safe-links.ts'
import { urlProtection } from './url-protection.ts'

const API = '/api/v1/url-protection'

let database: Awaited<ReturnType<typeof cloneDatabase>>
let proxy: Awaited<ReturnType<typeof startCuttingProxy>>
let app: App
beforeAll(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  proxy = await startCuttingProxy(database.url)
  const env = { SVC_PUBLIC_URL: 'https://mail.acme.test' }
  app = await startApp({ env, database: { url: proxy.url }, daemons: [urlProtection] })
})
afterAll(async () => {
  proxy.mend()
  await app.stop()
  await proxy.stop()
  await database.drop()
})

it('answers clicks while PostgreSQL is away, by the lists as they were, and stores them later', async () => {
  const acme = await app.tenant('acme')
  await acme.post(`${API}/blocklist`, { entry_type: 'domain', entry: 'evil.test' })
  const key = await signingKey(app.core)
  const linkTo = (address: string) =>
    `/safe/${safePath(key, { organizationId: acme.organizationId, address, isForm: false })}`
  const click = (path: string) =>
    app.send('GET', path, { from: newIp(), headers: { 'user-agent': BROWSER } })

  proxy.sever()
  await waitFor(async () => (await acme.get(`${API}/clicks`)).status >= 500)
  expect(await click(linkTo('https://shop.test/a?b'))).toMatchObject({
    status: 302,
    headers: { location: 'https://shop.test/a?b' },
  })
  expect((await click(linkTo('https://www.evil.test/'))).status).toBe(403)
  const suspicious = await click(linkTo('https://203.0.113.9/'))
  expect(suspicious.status).toBe(200)
  expect(suspicious.text).toContain('Open it anyway')
  expect((await click(`${linkTo('https://shop.test/')}x`)).status).toBe(404)

  proxy.mend()
  const stored = await waitFor(async () => {
    const { status, body } = await acme.get(`${API}/clicks`)
    return status === 200 && body.data.items.length === 3 && body.data.items
  })
  const results = stored.map(({ scan_result }: { scan_result: string }) => scan_result)
  expect(results.sort()).toEqual(['blocked', 'safe', 'suspicious'])
  // Changes that were made meanwhile, and later ones, apply again.
  await acme.post(`${API}/blocklist`, { entry_type: 'domain', entry: 'shop.test' })
  await waitFor(async () => (await click(linkTo('https://shop.test/'))).status === 403)
})
