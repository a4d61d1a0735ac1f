import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../../test/support/app-with-dns.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'
import { watchDns } from './dns-history.jobs.ts'

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  ;({ app, dns, stop } = await startAppWithDns({
    SVC_DNS_TIMEOUT: '3',
    SVC_MAIL_HOSTNAME: 'mail.host.test',
  }))
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => stop())
beforeEach(() => dns.reset())

const create = async (domain: string) => (await acme.post('/api/v1/domains/', { domain })).body.data
const verify = (id: string) => acme.get(`/api/v1/domains/${id}/verify-dns`)
const historyOf = async (id: string) =>
  (await acme.get(`/api/v1/domains/${id}/dns-checks?per_page=200`)).body.data
const spf = (domain: string, value = 'v=spf1 include:spf.mail.host.test ~all') => ({
  [domain]: { MX: ['mail.host.test'], TXT: [value] },
})

it('stores a DNS check only when its result changed, and the time of the last look', async () => {
  const { id } = await create('history.test')
  expect((await historyOf(id)).items).toEqual([])
  dns.state.records = spf('history.test')
  const begin = app.clock.now().getTime()
  await verify(id)
  app.clock.advance(HOUR_MS)
  await verify(id)
  app.clock.advance(HOUR_MS)
  dns.state.records = { 'history.test': { MX: ['mail.host.test'] } }
  await Promise.all([verify(id), verify(id)])
  app.clock.advance(1000)
  dns.state.records = spf('history.test', 'v=spf1 -all')
  await verify(id)
  const { items, pagination } = await historyOf(id)
  expect(pagination.total).toBe(3)
  expect(items.map(({ mx, spf, dmarc }: Record<string, string>) => [mx, spf, dmarc])).toEqual([
    ['pass', 'different', 'missing'],
    ['pass', 'missing', 'missing'],
    ['pass', 'pass', 'missing'],
  ])
  expect(items[2]).toMatchObject({ dkim: 'missing', ownership: 'missing' })
  expect(Date.parse(items[2].first_seen_at)).toBeGreaterThanOrEqual(begin)
  expect(Date.parse(items[2].last_seen_at) - Date.parse(items[2].first_seen_at)).toBeGreaterThan(
    HOUR_MS - 1,
  )
  app.clock.reset()
})

it('does not store a look without an answer of DNS as a change', async () => {
  const { id } = await create('quiet.test')
  dns.state.silent = true
  await verify(id)
  expect((await historyOf(id)).items).toMatchObject([{ mx: 'unknown', spf: 'unknown' }])
  dns.state.silent = false
  dns.state.records = spf('quiet.test')
  await verify(id)
  dns.state.silent = true
  await verify(id)
  expect((await historyOf(id)).items).toMatchObject([
    { mx: 'pass', spf: 'pass' },
    { mx: 'unknown', spf: 'unknown' },
  ])
})

it('looks at the DNS of hosted domains every six hours, and not at pending claims', async () => {
  const claim = await create('claim.test')
  const hosted = await app.hostedDomain(acme, { domain: 'hosted.test' })
  dns.state.records = {
    ...spf('hosted.test'),
    '_dmarc.hosted.test': { TXT: ['v=DMARC1; p=none'] },
    'default._domainkey.hosted.test': { TXT: [hosted.dkim_record] },
  }
  await watchDns.run(app.core)
  expect((await historyOf(claim.id)).items).toEqual([])
  expect((await historyOf(hosted.id)).items).toMatchObject([
    { mx: 'pass', spf: 'pass', dkim: 'pass', dmarc: 'pass', ownership: 'pass' },
  ])
  const { verified_at } = (await acme.get(`/api/v1/domains/${hosted.id}`)).body.data
  expect(verified_at).not.toBeNull()
  dns.state.records = {}
  app.clock.advance(HOUR_MS)
  await watchDns.run(app.core)
  expect((await historyOf(hosted.id)).pagination.total).toBe(1)
  app.clock.advance(DAY_MS)
  await watchDns.run(app.core)
  expect((await historyOf(hosted.id)).items).toMatchObject([
    { mx: 'missing', spf: 'missing' },
    { mx: 'pass', spf: 'pass' },
  ])
  app.clock.reset()
})

/** A stored check of a past minute; the higher the index, the newer. */
function oldCheck(domain_id: string, index: number) {
  const at = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString()
  const result = index % 2 === 0 ? ('pass' as const) : ('missing' as const)
  const results = { mx: result, spf: result, dkim: result, dmarc: result, ownership: result }
  const id = `${domain_id}-${index}`
  return { id, domain_id, ...results, current: index === 99, first_seen_at: at, last_seen_at: at }
}

it('keeps the last 100 changes of DNS, and deletes them with the domain', async () => {
  const { id } = await create('flapping.test')
  await app.core.db
    .insertInto('dns_checks')
    .values(Array.from({ length: 100 }, (_, index) => oldCheck(id, index)))
    .execute()
  dns.state.records = spf('flapping.test')
  await verify(id)
  app.clock.advance(1000)
  dns.state.records = {}
  await verify(id)
  const { items, pagination } = await historyOf(id)
  expect(pagination.total).toBe(100)
  expect(items.slice(0, 2).map(({ mx }: { mx: string }) => mx)).toEqual(['missing', 'pass'])
  expect(items[99].first_seen_at).toBe(oldCheck(id, 2).first_seen_at)
  expect((await acme.delete(`/api/v1/domains/${id}`)).status).toBe(200)
  const left = await app.core.db
    .selectFrom('dns_checks')
    .select('id')
    .where('domain_id', '=', id)
    .execute()
  expect(left).toEqual([])
  app.clock.reset()
})

it("returns 404 for the DNS history of another organization's domain", async () => {
  const { id } = await create('mine.test')
  expect(await globex.get(`/api/v1/domains/${id}/dns-checks`)).toMatchObject({
    status: 404,
    body: { msg: 'Domain not found' },
  })
})

it('looks at the domain of a tenant while DNS of many domains of another one is silent', async () => {
  const evil = await app.tenant('evil')
  for (let count = 0; count < 60; count++) {
    const domain = `evil-${count}.test`
    await app.hostedDomain(evil, { domain })
    dns.state.silentAbout.push(domain)
  }
  const { id } = await app.hostedDomain(acme, { domain: 'patient.test' })
  dns.state.records = spf('patient.test')
  await watchDns.run(app.core)
  expect((await historyOf(id)).items).toMatchObject([{ mx: 'pass', spf: 'pass' }])
})
