import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { type ImapServer, startImapServer } from '../../../test/support/imap-server.ts'
import { ISSUER, programOf, tokensOf } from '../../../test/support/oauth.ts'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'
import { rotateSigningKeys } from './oauth.jobs.ts'

const KEY_DAYS = 30

let app: App
let imap: ImapServer
let email: string
let program: Awaited<ReturnType<typeof programOf>>
beforeAll(async () => {
  imap = await startImapServer()
  app = await startApp({
    oauth: true,
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      OAUTH_ISSUER: ISSUER,
      OAUTH_KEY_DAYS: String(KEY_DAYS),
      SVC_TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  const acme = await app.tenant('acme')
  email = acme.email
  imap.passwords.set(email, PASSWORD)
  const made = await acme.post('/api/v1/oauth/clients', {
    name: 'Desktop',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1/signed-in'],
    scopes: ['openid'],
  })
  program = await programOf(app, made.body.data)
})
afterAll(async () => {
  await app.stop()
  await imap.stop()
})

const published = async (): Promise<string[]> => {
  const { keys } = (await app.send('GET', '/oauth/jwks')).body
  expect(JSON.stringify(keys)).not.toContain('"d"')
  return keys.map(({ kid }: { kid: string }) => kid)
}
/** The key that signs the identity token of a new sign-in. */
const signing = async (): Promise<string> => {
  const { id_token = '' } = await tokensOf(program, email, 'openid')
  return JSON.parse(Buffer.from(id_token.split('.')[0] ?? '', 'base64url').toString()).kid
}
const later = async (milliseconds: number) => {
  app.clock.advance(milliseconds)
  await rotateSigningKeys.run(app.core)
}

it('publishes a new key before it signs, and the old one while its tokens live', async () => {
  const [first = ''] = await published()
  expect(await signing()).toBe(first)
  await later((KEY_DAYS - 1) * DAY_MS)
  expect(await published()).toEqual([first])

  await later(DAY_MS)
  const both = await published()
  expect(both).toHaveLength(2)
  expect(await signing()).toBe(first)
  await later(0)
  expect(await published()).toEqual(both)

  await later(HOUR_MS)
  const second = await signing()
  expect(second).not.toBe(first)
  expect(await published()).toEqual([second, first])

  await later(HOUR_MS)
  expect(await published()).toContain(first)
  await later(DAY_MS)
  expect(await published()).toEqual([second])
  expect(await signing()).toBe(second)
})
