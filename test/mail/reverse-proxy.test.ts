import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pages } from '../../src/features/pages/index.ts'
import { type App, INTERNAL_TOKEN, newIp, startApp } from '../support/app.ts'
import { send } from '../support/http.ts'
import { NAME, proxyMissing, type RunningProxy, startProxy } from '../support/reverse-proxy.ts'

describe.each(['nginx', 'caddy'] as const)('the documented example for %s', (name) => {
  const missing = proxyMissing(name)
  const promise = missing === undefined ? it : it.skip
  const title = (text: string) => (missing === undefined ? text : `${text} (skipped: ${missing})`)
  let app: App
  let proxy: RunningProxy
  beforeAll(async () => {
    if (missing !== undefined) return
    app = await startApp({
      env: { SVC_TRUSTED_PROXIES: '127.0.0.1,::1', SVC_PUBLIC_URL: `https://${NAME}` },
      limiting: true,
      oauth: true,
      features: [pages()],
    })
    proxy = await startProxy(name, Number(new URL(app.base).port))
  })
  afterAll(async () => {
    await proxy?.stop()
    await app?.stop()
  })

  promise(title('publishes the API over TLS'), async () => {
    const acme = await app.tenant('acme')
    const answer = await proxy.send('GET', '/api/v1/domains/', {
      headers: { 'x-api-key': acme.apiKey },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers['strict-transport-security']).toContain('max-age')
    expect((await proxy.send('GET', '/health')).status).toBe(200)
  })

  promise.each(['/', '/app', '/app/mailboxes?q=a', '/console', '/mailbox', '/setup'])(
    title('publishes the page %s'),
    async (path) => {
      const answer = await proxy.send('GET', path)
      expect(answer.status).toBe(200)
      expect(answer.headers['content-security-policy']).toContain("script-src 'self'")
      expect((await proxy.send('GET', '/assets/icon.svg')).status).toBe(200)
    },
  )

  promise(title('publishes the settings for mail programs'), async () => {
    await app.tenant('clients')
    for (const path of [
      '/mail/config-v1.1.xml?emailaddress=jane@clients.test',
      '/.well-known/autoconfig/mail/config-v1.1.xml?emailaddress=jane@clients.test',
      '/Autodiscover/Autodiscover.json?Email=jane@clients.test',
      '/apple/jane@clients.test.mobileconfig',
    ]) {
      expect(`${path} ${(await proxy.send('GET', path)).status}`).toBe(`${path} 200`)
    }
    // The name of the proxy has no policy, and no report is a report.
    expect((await proxy.send('GET', '/.well-known/mta-sts.txt')).text).toContain('not hosted')
    expect((await proxy.send('POST', '/tls-rpt')).status).toBe(400)
  })

  promise(title('publishes the sign-in of programs'), async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server']) {
      const answer = await proxy.send('GET', `/.well-known/${name}`)
      expect(JSON.parse(answer.text)).toMatchObject({ issuer: `https://${NAME}` })
    }
    expect((await proxy.send('GET', '/oauth/jwks')).status).toBe(200)
    const token = await proxy.send('POST', '/oauth/token', { body: '{}' })
    expect(JSON.parse(token.text)).toMatchObject({ error: 'invalid_request' })
  })

  promise.each([
    '/metrics',
    '/docs',
    '/openapi.json',
    '/webhook/status',
    '/cleanup/config',
    '/stats',
    '/get_usage/mailbox/admin@acme.test',
    '/api/tracking/bounce',
    '//metrics',
    '/api/v1/../../metrics',
    '/api/v1/..%2f..%2fmetrics',
    '/api/v1/%2e%2e/%2e%2e/metrics',
    '/health/../metrics',
  ])(title('does not publish %s (S5, S23)'), async (path) => {
    const headers = { 'x-internal-token': INTERNAL_TOKEN }
    const answer = await proxy.send('GET', path, { headers })
    expect([400, 404]).toContain(answer.status)
    expect(answer.text).not.toContain('api_http_requests_total')
  })

  promise(title('does not publish POST /set_limits (S5)'), async () => {
    const body = '{"entity_type":"organization","identifier":"x","hourly_limit":1}'
    expect((await proxy.send('POST', '/set_limits', { body })).status).toBe(404)
    // The server itself refuses it too, although the proxy is on loopback.
    const direct = await app.send('POST', '/set_limits', { raw: body })
    expect(direct.status).toBe(401)
  })

  promise(title('forwards the address of the client, not what the client claims'), async () => {
    const from = newIp()
    const answer = await proxy.send('GET', '/api/v1/platform/operators', {
      from,
      headers: { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9' },
    })
    expect(answer.status).toBe(401)
    const addressOf = async () =>
      (
        await app.core.db
          .selectFrom('operator_audit')
          .select('ip_address')
          .where('correlation_id', '=', String(answer.headers['x-correlation-id']))
          .executeTakeFirst()
      )?.ip_address
    await expect.poll(addressOf).toBe(from)
  })

  promise(title('takes a message with an attachment of 2 MB'), async () => {
    const shop = await app.tenant('shop')
    const file = { filename: 'a.bin', content: Buffer.alloc(2_000_000).toString('base64') }
    const message = { to: ['jane@elsewhere.test'], subject: 'Order', text: 'Thank you' }
    const answer = await proxy.send('POST', '/api/v1/messages/', {
      headers: { 'x-api-key': shop.apiKey },
      body: JSON.stringify({ ...message, from: shop.email, attachments: [file] }),
    })
    expect(answer.status).toBe(202)
  })

  promise(title('refuses a login with a body above 1 MiB'), async () => {
    const body = JSON.stringify({ email: 'x'.repeat(1_200_000), password: 'x' })
    expect((await proxy.send('POST', '/api/v1/auth/login', { body })).status).toBe(413)
  })

  promise(title('redirects plain HTTP, except ACME challenges'), async () => {
    const headers = { host: NAME }
    const plain = await send(proxy.httpBase, 'GET', '/api/v1/domains/?a=b', { headers })
    expect([301, 308]).toContain(plain.status)
    expect(plain.headers.location).toBe(`https://${NAME}/api/v1/domains/?a=b`)
    const challenge = await send(proxy.httpBase, 'GET', '/.well-known/acme-challenge/unknown', {
      headers: { host: 'mail.acme.test' },
    })
    expect(challenge.status).toBe(404)
    expect(challenge.headers['x-correlation-id']).toMatch(/^req_/)
  })
})
