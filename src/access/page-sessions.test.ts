import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, clientOf, startApp } from '../../test/support/app.ts'

let app: App
let tenant: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  tenant = await app.tenant('acme')
})
afterAll(() => app.stop())

/** A browser that is signed in as a tenant, as an operator and to a mailbox. */
async function browser({ partial = false } = {}) {
  const operator = await app.operator('owner')
  const sessions = [
    await app.session('dashboard', tenant.userId),
    await app.session('operator', operator.id, { partial }),
    await app.session('mailbox', tenant.accountId),
  ]
  const jar = new Map(sessions.flatMap(({ jar }) => [...jar]))
  const page = (kind: string, csrf: string) =>
    clientOf(app, { 'x-session': kind, 'x-csrf-token': jar.get(csrf) ?? '' }, jar)
  return {
    operator,
    jar,
    plain: clientOf(app, {}, jar),
    tenant: page('dashboard', 'svc_csrf'),
    console: page('operator', 'svc_operator_csrf'),
    mailbox: page('mailbox', 'svc_mailbox_csrf'),
    nothing: page('nonsense', 'svc_csrf'),
  }
}

const headers = (jar: Map<string, string>, kind: string, csrf: string) => ({
  headers: { 'x-session': kind, 'x-csrf-token': jar.get(csrf) ?? '' },
})

describe('a browser with three sessions', () => {
  it('reads and writes with the session that X-Session names', async () => {
    const { operator, jar, plain, ...pages } = await browser()
    expect((await pages.tenant.get('/api/v1/auth/me')).body.data.user.email).toBe(tenant.email)
    expect((await pages.console.get('/api/v1/platform/auth/me')).body.data.email).toBe(
      operator.email,
    )
    expect((await pages.mailbox.get('/api/v1/mailbox/two-factor')).status).toBe(200)
    const written = await pages.tenant.put(
      `/api/v1/organizations/${tenant.organizationId}`,
      { description: 'by the tenant' },
      headers(jar, 'dashboard', 'svc_csrf'),
    )
    expect(written.status, written.text).toBe(200)
    // Without the header the operator comes first, as before.
    expect((await plain.get('/api/v1/auth/me')).body.data.user.email).toBe(operator.email)
  })

  it('signs out of the named session alone', async () => {
    const { jar, ...pages } = await browser()
    const answer = await pages.tenant.post(
      '/api/v1/auth/logout',
      {},
      headers(jar, 'dashboard', 'svc_csrf'),
    )
    expect(answer.status, answer.text).toBe(200)
    expect((await pages.tenant.get('/api/v1/auth/me')).status).toBe(401)
    expect((await pages.console.get('/api/v1/platform/auth/me')).status).toBe(200)
    expect((await pages.mailbox.get('/api/v1/mailbox/two-factor')).status).toBe(200)
  })

  it('leaves the tenant in while the operator has given no code yet', async () => {
    const { jar, ...pages } = await browser({ partial: true })
    expect((await pages.tenant.get('/api/v1/domains/')).status).toBe(200)
    const added = await pages.tenant.post(
      '/api/v1/domains/',
      { domain: 'beside.test' },
      headers(jar, 'dashboard', 'svc_csrf'),
    )
    expect(added.status, added.text).toBe(201)
    expect(await pages.console.get('/api/v1/domains/')).toMatchObject({
      status: 403,
      body: { msg: 'MFA required' },
    })
  })

  it('gets nothing more by the header than without it', async () => {
    const { jar, ...pages } = await browser()
    expect((await pages.tenant.get('/api/v1/platform/auth/me')).status).toBe(403)
    expect((await pages.mailbox.get('/api/v1/domains/')).status).toBe(401)
    expect((await pages.console.get('/api/v1/mailbox/two-factor')).status).toBe(401)
    expect((await pages.nothing.get('/api/v1/auth/me')).status).toBe(401)
    // The CSRF token of another session does not fit.
    expect(
      (
        await pages.tenant.post(
          '/api/v1/domains/',
          { domain: 'wrong.test' },
          headers(jar, 'dashboard', 'svc_operator_csrf'),
        )
      ).body.msg,
    ).toBe('CSRF token missing or invalid')
  })
})
