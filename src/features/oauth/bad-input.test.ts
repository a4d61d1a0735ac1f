import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { ISSUER } from '../../../test/support/oauth.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ oauth: true, env: { OAUTH_ISSUER: ISSUER } })
})
afterAll(() => app.stop())

const FORM = 'application/x-www-form-urlencoded'
const PATHS = ['/oauth/token', '/oauth/introspect', '/oauth/revoke', '/oauth/device/code']
const post = (path: string, raw: string, type = FORM) =>
  app.send('POST', path, { raw, headers: { 'content-type': type } })

it.each(PATHS)('%s refuses a large body in the form of the protocol', async (path) => {
  const answer = await post(path, `grant_type=${'x'.repeat(5_000_000)}`)
  expect([400, 413]).toContain(answer.status)
  expect(answer.body).toMatchObject({ error: 'invalid_request' })
})

it.each(PATHS)('%s refuses bodies that are no form, and forms that make no sense', async (path) => {
  for (const [raw, type] of [
    ['{"grant_type":"x"}', 'application/json'],
    ['%ff%fe=%zz&&&=', FORM],
    [`${'a=1&'.repeat(5000)}`, FORM],
    ['grant_type=authorization_code&grant_type=refresh_token', FORM],
    ['__proto__=x&constructor=y', FORM],
    ['', FORM],
  ] as const) {
    const answer = await post(path, raw, type)
    expect([400, 401, 413], raw.slice(0, 40)).toContain(answer.status)
    expect(answer.body.error, raw.slice(0, 40)).toMatch(/^(invalid|unsupported|unauthorized)_/)
  }
})

it('the page for devices answers a form without its session with a page and 400', async () => {
  for (const raw of ['user_code=AAAA-BBBB', 'xsrf=x&user_code=1', 'x'.repeat(5_000_000), '']) {
    const answer = await post('/oauth/device', raw)
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toContain('text/html')
  }
})
