import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../../test/support/app-with-dns.ts'

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  ;({ app, dns, stop } = await startAppWithDns({ SVC_MAIL_HOSTNAME: 'mail.host.test' }))
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => stop())
beforeEach(() => dns.reset())

const create = async (domain: string) => (await acme.post('/api/v1/domains/', { domain })).body.data
const verify = (id: string) => acme.get(`/api/v1/domains/${id}/verify-dns`)
const right = (domain: string, dkim: string) => ({
  'mail.host.test': { A: ['192.0.2.25'] },
  'spf.mail.host.test': { TXT: ['v=spf1 ip4:192.0.2.25 -all'] },
  [domain]: {
    MX: ['mail.host.test'],
    TXT: ['unrelated', 'v=spf1 include:spf.mail.host.test ~all'],
  },
  [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] },
  [`default._domainkey.${domain}`]: { TXT: [dkim] },
})

it('returns what to publish for each missing DNS record', async () => {
  const { id, dns_records } = await create('bare.test')
  const { status, body } = await verify(id)
  expect(status).toBe(200)
  expect(body.msg).toBe('DNS verification completed')
  expect(body.data).toMatchObject({ domain: 'bare.test', verified: false, verified_at: null })
  const { mx, spf, dkim, dmarc } = body.data.verification
  expect(mx).toMatchObject({ status: 'fail', type: 'MX', expected: 'mail.host.test', actual: null })
  expect(spf).toMatchObject({
    status: 'fail',
    found: false,
    expected: 'include:spf.mail.host.test',
  })
  expect(dkim).toMatchObject({
    status: 'fail',
    message: 'DKIM record not found',
    name: 'default._domainkey.bare.test',
  })
  expect(dkim.expected).toBe(dns_records[3].value)
  expect(dmarc).toMatchObject({ status: 'fail', message: 'DMARC record not found' })
})

it('verifies the domain once its ownership is proven and all four records pass, and emits one event for several checks', async () => {
  const { id, dkim_record, dns_records } = await create('good.test')
  const ownership = { '_mailplane.good.test': { TXT: [dns_records.at(-1).value] } }
  dns.state.records = { ...right('good.test', dkim_record), ...ownership }
  const [first, second] = await Promise.all([verify(id), verify(id)])
  expect(first.body.data.verification).toMatchObject({
    mx: { status: 'pass', actual: 'mail.host.test' },
    spf: { status: 'pass' },
    dkim: { status: 'pass', found: true },
    dmarc: { status: 'pass', policy: 'reject' },
  })
  expect(second.body.data.verified).toBe(true)
  dns.state.records = {}
  const later = await verify(id)
  expect(later.body.data).toMatchObject({
    verified: false,
    verified_at: first.body.data.verified_at,
  })
  const events = await app.core.db
    .selectFrom('events')
    .selectAll()
    .where('event', '=', 'domain.verified')
    .execute()
  expect(events).toMatchObject([
    { org_id: acme.organizationId, data: { domain_id: id, domain: 'good.test' } },
  ])
})

it('fails for another key under the selector and for a mail host with a similar name', async () => {
  const { id } = await create('wrong.test')
  dns.state.records = {
    ...right('wrong.test', 'v=DKIM1; k=rsa; p=AAAA'),
    'wrong.test': { MX: ['notmail.host.test'], TXT: ['v=spf1 -all'] },
  }
  const { mx, spf, dkim } = (await verify(id)).body.data.verification
  expect(mx.status).toBe('fail')
  expect(spf.message).toContain('192.0.2.25')
  expect(dkim).toMatchObject({ status: 'fail', found: true })
})

it('reports silent resolvers and returns in time', async () => {
  const { id } = await create('silent.test')
  dns.state.silent = true
  const { status, body } = await verify(id)
  expect(status).toBe(200)
  expect(body.data.verification.mx.message).toContain('DNS did not answer')
})

it("returns 404 for the DNS check of another organization's domain", async () => {
  const { id } = await create('mine.test')
  expect(await globex.get(`/api/v1/domains/${id}/verify-dns`)).toMatchObject({
    status: 404,
    body: { msg: 'Domain not found' },
  })
})
