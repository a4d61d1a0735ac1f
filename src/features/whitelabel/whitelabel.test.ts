import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { startDnsServer } from '../../../test/support/dns-server.ts'
import { escapeHtml } from '../../lib/safe-html.ts'

let app: App
let dns: Awaited<ReturnType<typeof startDnsServer>>
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
let path: string
beforeAll(async () => {
  dns = await startDnsServer()
  app = await startApp({
    env: {
      SVC_DNS_SERVERS: dns.address,
      SVC_DNS_TIMEOUT: '1',
      SVC_MAIL_HOSTNAME: 'Mail.Host.test',
      SVC_PUBLIC_URL: 'https://console.host.test',
    },
  })
  admin = await app.operator('admin')
})
afterAll(async () => {
  await app.stop()
  await dns.stop()
})
let count = 0
beforeEach(async () => {
  dns.state.records = {}
  dns.state.silent = false
  acme = await app.tenant(`acme${++count}`)
  path = `/api/v1/whitelabel/config/${acme.organizationId}`
})

const set = (body: object) => admin.put(path, body)
const told = async () =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ org_id, event }) => org_id === acme.organizationId && /^whitelabel/.test(event))
    .map(({ event, data }) => [event, (data as { updated_fields: string[] }).updated_fields])

describe('what is refused', () => {
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
  ])('a brand with %j', async (wrong) => {
    expect((await set(wrong)).status).toBe(422)
    expect((await admin.get(path)).body.data).toMatchObject({ whitelabel: {}, updated_at: null })
  })

  it('an organization that is not there, and a body without a field', async () => {
    const missing = { status: 404, body: { msg: 'Organization not found' } }
    const none = '/api/v1/whitelabel/config/none'
    expect(await admin.get(none)).toMatchObject(missing)
    expect(await admin.put(none, { brand_name: 'x' })).toMatchObject(missing)
    expect(await admin.get(`${none}/preview`)).toMatchObject(missing)
    expect(await admin.post(`${none}/verify-domain`)).toMatchObject(missing)
    expect(await admin.delete(none)).toMatchObject(missing)
    expect(await set({ color: 'x' })).toMatchObject({
      status: 400,
      body: { msg: 'No updatable fields provided' },
    })
  })

  it('a domain that another organization has', async () => {
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
  it('is merged field by field; null takes one away, a deletion all', async () => {
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

  it('keeps both of two changes that come at once', async () => {
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

  it('is stored without anything that runs or reaches elsewhere', async () => {
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

describe('a preview', () => {
  const preview = async () => (await admin.get(`${path}/preview`)).body.data.html as string

  it('is a page also for who has no brand', async () => {
    expect(await preview()).toContain('<form method="post" action="/login">')
  })

  it('shows values as text and evaluates nothing', async () => {
    const brand_name = `</title><script>alert(1)</script>{{7*7}}\${7*7}<%= 7*7 %>$&$1`
    await set({ brand_name, custom_css: 'p::after { content: "$&" }' })
    const html = await preview()
    expect(html).not.toContain('<script')
    expect(html).not.toContain('49')
    expect(html).toContain(escapeHtml(brand_name))
    expect(html).toContain('content: "$&"')
    expect(html).toContain("default-src 'none'")
  })

  it('is safe also when something else has reached the database', async () => {
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

  it('has to be saved first', async () => {
    expect(await verify()).toMatchObject({ status: 400 })
  })

  it.each([
    ['mail.host.test', true, 'CNAME verified'],
    ['console.host.test', true, 'CNAME verified'],
    ['elsewhere.test', false, 'The CNAME leads to elsewhere.test'],
    [undefined, false, 'No CNAME was found'],
  ])('with the CNAME %s is verified: %s', async (cname, verified, message) => {
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

  it('is no longer verified when it changes or leads elsewhere', async () => {
    const custom_domain = 'moving.acme.test'
    await set({ custom_domain })
    dns.state.records[custom_domain] = { CNAME: ['mail.host.test'] }
    await verify()
    expect((await set({ brand_name: 'x' })).body.data.domain_verified_at).not.toBeNull()
    dns.state.records = {}
    expect((await verify()).body.data.verified).toBe(false)
    expect((await admin.get(path)).body.data.domain_verified_at).toBeNull()
  })

  it('is not judged while DNS is silent', async () => {
    await set({ custom_domain: 'quiet.acme.test' })
    dns.state.silent = true
    expect(await verify()).toMatchObject({ status: 503, body: { error: expect.any(String) } })
  })
})
