import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../test/support/app-with-dns.ts'
import { escapeHtml } from '../../lib/safe-html.ts'

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
let path: string
beforeAll(async () => {
  ;({ app, dns, stop } = await startAppWithDns({
    SVC_MAIL_HOSTNAME: 'Mail.Host.test',
    SVC_PUBLIC_URL: 'https://console.host.test',
  }))
  admin = await app.operator('admin')
})
afterAll(() => stop())
let count = 0
beforeEach(async () => {
  dns.reset()
  acme = await app.tenant(`acme${++count}`)
  path = `/api/v1/whitelabel/config/${acme.organizationId}`
})

const set = (body: object) => admin.put(path, body)
const told = async () =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ org_id, event }) => org_id === acme.organizationId && /^whitelabel/.test(event))
    .map(({ event, data }) => [event, (data as { updated_fields: string[] }).updated_fields])

describe('the white-label API', () => {
  it.each([
    [{ primary_color: 'red' }],
    [{ primary_color: '#12345' }],
    [{ secondary_color: '#fff;}</style>' }],
    [{ logo_url: 'javascript:alert(1)' }],
    [{ logo_url: '/logo.png' }],
    [{ support_url: 'https://user:pass@x.test/' }],
    [{ favicon_url: 'x'.repeat(2049) }],
    [{ support_email: 'nobody' }],
    [{ custom_domain: 'not a domain' }],
    [{ custom_domain: '127.0.0.1' }],
    [{ brand_name: 7 }],
    [{ custom_css: 'x'.repeat(100_001) }],
  ])('rejects a brand with %j', async (wrong) => {
    expect((await set(wrong)).status).toBe(422)
    expect((await admin.get(path)).body.data).toMatchObject({ whitelabel: {}, updated_at: null })
  })

  it('returns 404 for an unknown organization and 400 for a body without a known field', async () => {
    const missing = { status: 404, body: { msg: 'Organization not found' } }
    const none = '/api/v1/whitelabel/config/none'
    expect(await admin.get(none)).toMatchObject(missing)
    expect(await admin.put(none, { brand_name: 'x' })).toMatchObject(missing)
    expect(await admin.get(`${none}/preview`)).toMatchObject(missing)
    expect(await admin.get(`${none}/preview/page`)).toMatchObject(missing)
    expect(await admin.post(`${none}/verify-domain`)).toMatchObject(missing)
    expect(await admin.delete(none)).toMatchObject(missing)
    expect(await set({ color: 'x' })).toMatchObject({
      status: 400,
      body: { msg: 'No updatable fields provided' },
    })
  })

  it('rejects a custom domain of another organization with 409', async () => {
    await set({ custom_domain: 'taken.test' })
    const other = await app.tenant('other')
    expect(
      await admin.put(`/api/v1/whitelabel/config/${other.organizationId}`, {
        custom_domain: 'TAKEN.test.',
      }),
    ).toMatchObject({ status: 409 })
  })
})

describe('a brand', () => {
  it('is merged field by field; null removes a field, a delete removes all', async () => {
    await set({ brand_name: 'Acme', primary_color: '#1a2B3c' })
    await set({ brand_name: null, support_email: 'help@acme.test' })
    expect((await admin.get(path)).body.data).toMatchObject({
      organization_id: acme.organizationId,
      whitelabel: { primary_color: '#1a2B3c', support_email: 'help@acme.test' },
    })
    expect((await admin.get(path)).body.data.whitelabel).not.toHaveProperty('brand_name')
    expect((await admin.delete(path)).body.data.removed).toBe(true)
    expect((await admin.delete(path)).body.data.removed).toBe(false)
    expect((await admin.get(path)).body.data.whitelabel).toEqual({})
    expect(await told()).toEqual([
      ['whitelabel.configured', ['primary_color', 'brand_name']],
      ['whitelabel.updated', ['brand_name', 'support_email']],
      ['whitelabel.updated', ['primary_color', 'support_email']],
    ])
  })

  it('keeps all fields of concurrent updates', async () => {
    await Promise.all([
      set({ brand_name: 'Acme' }),
      set({ primary_color: '#123456' }),
      set({ support_email: 'help@acme.test' }),
    ])
    expect(Object.keys((await admin.get(path)).body.data.whitelabel).sort()).toEqual([
      'brand_name',
      'primary_color',
      'support_email',
    ])
    expect((await told()).filter(([event]) => event === 'whitelabel.configured')).toHaveLength(1)
  })

  it('is stored without scripts and references to other sites', async () => {
    const answer = await set({
      login_page_html: '<h1>Hi</h1><script>alert(1)</script><img src=x onerror=alert(1)>',
      footer_html: '<a href="javascript:alert(1)">x</a>',
      custom_css: '@import url(//evil.test); p { color: red } </style><script>',
    })
    expect(answer.body.data.whitelabel).toEqual({
      login_page_html: '<h1>Hi</h1><img src="x">',
      footer_html: '<a rel="noopener noreferrer nofollow">x</a>',
      custom_css: 'p { color: red; }',
    })
    const onlyHostile = await set({ footer_html: '<script>alert(1)</script>' })
    expect(onlyHostile.body.data.whitelabel).not.toHaveProperty('footer_html')
  })
})

describe('a brand preview', () => {
  const preview = async () => (await admin.get(`${path}/preview`)).body.data.html as string

  it('is a login page for an organization without a brand', async () => {
    expect(await preview()).toContain('<form method="post" action="/login">')
  })

  it('escapes values and evaluates no templates', async () => {
    const brand_name = `</title><script>alert(1)</script>{{7*7}}\${7*7}<%= 7*7 %>$&$1`
    await set({ brand_name, custom_css: 'p::after { content: "$&" }' })
    const html = await preview()
    expect(html).not.toContain('<script')
    expect(html).not.toContain('49')
    expect(html).toContain(escapeHtml(brand_name))
    expect(html).toContain('content: "$&"')
    expect(html).toContain("default-src 'none'")
  })

  it('is a page that runs nothing and is framed by pages of this host only', async () => {
    await set({ brand_name: 'Acme <Mail>' })
    const page = await admin.get(`${path}/preview/page`)
    expect(page.status).toBe(200)
    expect(page.text).toBe(await preview())
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'SAMEORIGIN',
      'cross-origin-embedder-policy': 'credentialless',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    const policy = String(page.headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "frame-ancestors 'self'", 'sandbox']),
    )
    expect(policy.join()).not.toContain('script-src')
    for (const stranger of [await app.operator('operator'), acme]) {
      expect((await stranger.get(`${path}/preview/page`)).status).toBe(403)
    }
    expect((await app.send('GET', `${path}/preview/page`)).status).toBe(401)
  })

  it('sanitizes hostile values that are already in the database', async () => {
    await set({ brand_name: 'x' })
    const fields = {
      login_page_html: '<script>alert(1)</script><p>ok</p>',
      custom_css: '</style><script>alert(1)</script>',
      primary_color: 'red;}</style><script>alert(1)</script>',
      logo_url: '"><script>alert(1)</script>',
    }
    await app.core.db
      .updateTable('whitelabel_configs')
      .set({ fields })
      .where('organization_id', '=', acme.organizationId)
      .execute()
    const html = await preview()
    expect(html).not.toContain('<script')
    expect(html.match(/<\/style>/g)).toHaveLength(1)
    expect(html).toContain('<p>ok</p>')
  })
})

describe('a custom domain', () => {
  const verify = () => admin.post(`${path}/verify-domain`)

  it('cannot be verified before it is saved', async () => {
    expect(await verify()).toMatchObject({ status: 400 })
  })

  it.each([
    ['mail.host.test', true, 'CNAME verified'],
    ['console.host.test', true, 'CNAME verified'],
    ['elsewhere.test', false, 'The CNAME leads to elsewhere.test'],
    [undefined, false, 'No CNAME was found'],
  ])('with the CNAME %s has verified=%s', async (cname, verified, message) => {
    const custom_domain = `mail${count}.acme.test`
    await set({ custom_domain })
    if (cname) dns.state.records[custom_domain] = { CNAME: [cname] }
    expect((await verify()).body.data).toEqual({
      organization_id: acme.organizationId,
      custom_domain,
      verified,
      resolved_cname: cname ?? null,
      message: expect.stringContaining(message),
    })
    expect((await admin.get(path)).body.data.domain_verified_at !== null).toBe(verified)
  })

  it('loses its verification when its CNAME no longer matches', async () => {
    const custom_domain = 'moving.acme.test'
    await set({ custom_domain })
    dns.state.records[custom_domain] = { CNAME: ['mail.host.test'] }
    await verify()
    expect((await set({ brand_name: 'x' })).body.data.domain_verified_at).not.toBeNull()
    dns.state.records = {}
    expect((await verify()).body.data.verified).toBe(false)
    expect((await admin.get(path)).body.data.domain_verified_at).toBeNull()
  })

  it('returns 503 from verification while DNS does not respond', async () => {
    await set({ custom_domain: 'quiet.acme.test' })
    dns.state.silent = true
    expect(await verify()).toMatchObject({ status: 503, body: { error: expect.any(String) } })
  })
})

describe('the brand of a host (B2.8)', () => {
  const at = (host: string) => app.send('GET', `/api/v1/whitelabel/brand?host=${host}`)

  it('is public once its custom domain is verified, and only its visible fields', async () => {
    const host = `mail${count}.acme.test`
    await set({ custom_domain: host, brand_name: 'Acme Mail', primary_color: '#123456' })
    const none = { status: 200, body: { data: { host, is_branded: false, whitelabel: {} } } }
    expect(await at(host)).toMatchObject(none)
    dns.state.records[host] = { CNAME: ['mail.host.test'] }
    expect((await admin.post(`${path}/verify-domain`)).body.data.verified).toBe(true)
    const brand = { brand_name: 'Acme Mail', primary_color: '#123456' }
    for (const name of [host, host.toUpperCase()]) {
      expect((await at(name)).body.data).toEqual({ host, is_branded: true, whitelabel: brand })
    }
    const byHeader = await app.send('GET', '/api/v1/whitelabel/brand', { headers: { host } })
    expect(byHeader.body.data).toMatchObject({ is_branded: true })
    // A domain that changes has to be verified again.
    await set({ custom_domain: `other${count}.acme.test` })
    expect(await at(host)).toMatchObject(none)
  })

  it('is that of the installation for every other host', async () => {
    for (const host of ['nowhere.test', 'not%20a%20host', '127.0.0.1']) {
      expect((await at(host)).body.data).toMatchObject({ is_branded: false, whitelabel: {} })
    }
  })
})
