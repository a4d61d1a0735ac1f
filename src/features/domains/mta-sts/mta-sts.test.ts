import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startDnsServer } from '../../../../test/support/dns-server.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { watchMtaSts } from './mta-sts.jobs.ts'

const HOST = 'mail.host.test'

let app: App
let dns: Awaited<ReturnType<typeof startDnsServer>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  dns = await startDnsServer()
  app = await startApp({
    env: { SVC_DNS_SERVERS: dns.address, SVC_DNS_TIMEOUT: '1', SVC_MAIL_HOSTNAME: HOST },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(async () => {
  await app.stop()
  await dns.stop()
})
afterEach(async () => {
  app.clock.reset()
  dns.reset()
  await app.core.db.deleteFrom('certificates').execute()
  await store({ mta_sts_mode: 'testing', mta_sts_problem: null })
})

const path = () => `/api/v1/domains/${acme.domainId}/mta-sts`
const get = async () => (await acme.get(path())).body.data
const store = (
  fields: {
    mta_sts_mode: 'none' | 'testing' | 'enforce'
    mta_sts_problem?: string | null
    mta_sts_checked_at?: string
  },
  id = acme.domainId,
) => app.core.db.updateTable('domains').set(fields).where('id', '=', id).execute()
const served = async (host = 'mta-sts.acme.test') =>
  app.send('GET', '/.well-known/mta-sts.txt', { headers: { host } })
const hostCertificate = (more: { self_signed?: boolean; valid_until?: string } = {}) =>
  app.core.db
    .insertInto('certificates')
    .values({
      id: ulid(),
      domain: HOST,
      names: [HOST],
      status: 'active',
      path: `/certificates/${ulid()}.pem`,
      valid_from: '2020-01-01T00:00:00Z',
      valid_until: '2999-01-01T00:00:00Z',
      self_signed: false,
      ...more,
    })
    .execute()

describe('the MTA-STS policy', () => {
  it('is found by the name of the host, names the real MX, and begins as testing', async () => {
    const answer = await served('MTA-STS.acme.test:443')
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(answer.text).toBe(`version: STSv1\r\nmode: testing\r\nmx: ${HOST}\r\nmax_age: 86400\r\n`)
    expect(await get()).toMatchObject({
      domain: 'acme.test',
      mode: 'testing',
      served_mode: 'testing',
      policy: answer.text,
      policy_url: 'https://mta-sts.acme.test/.well-known/mta-sts.txt',
    })
  })

  it.each([
    'mta-sts.unknown.test',
    'mta-sts.pending.test',
    'mta-sts.closed.test',
    'acme.test',
    'x',
  ])('is not found at %s', async (host) => {
    if (host.includes('pending')) await acme.post('/api/v1/domains/', { domain: 'pending.test' })
    if (host.includes('closed')) {
      const { organizationId } = await app.tenant('closed')
      const organizations = app.core.db.updateTable('organizations').set({ active: false })
      await organizations.where('id', '=', organizationId).execute()
    }
    expect((await served(host)).status).toBe(404)
  })

  it('has an id that follows the policy', async () => {
    const record = async () =>
      (await acme.get(`/api/v1/domains/${acme.domainId}`)).body.data.dns_records.find(
        ({ name }: { name: string }) => name === '_mta-sts.acme.test',
      ).value
    const before = await get()
    expect(await record()).toBe(`v=STSv1; id=${before.policy_id};`)
    expect(before.policy_id).toMatch(/^[a-z0-9]{1,32}$/)
    expect((await get()).policy_id).toBe(before.policy_id)
    expect((await acme.put(path(), { mode: 'none' })).body.data.served_mode).toBe('none')
    expect((await served()).text).toContain('mode: none')
    expect(await record()).not.toContain(before.policy_id)
    await acme.put(path(), { mode: 'testing' })
    expect((await get()).policy_id).toBe(before.policy_id)
  })

  it('is never enforced while the certificate of the mail host is wrong', async () => {
    await store({ mta_sts_mode: 'enforce' })
    expect((await served()).text).toContain('mode: testing')
    expect(await get()).toMatchObject({ mode: 'enforce', served_mode: 'testing' })
    await hostCertificate({ self_signed: true })
    expect((await served()).text).toContain('mode: testing')
    await hostCertificate({ valid_until: '2021-01-01T00:00:00Z' })
    expect((await served()).text).toContain('mode: testing')
    await hostCertificate()
    expect((await served()).text).toContain('mode: enforce')
    expect(await get()).toMatchObject({ served_mode: 'enforce', problems: [] })
  })

  it('is not switched to enforce before certificate, DNS and fetch are right', async () => {
    dns.state.records = { 'acme.test': { MX: ['other.test', HOST] } }
    const refused = await acme.put(path(), { mode: 'enforce' })
    expect(refused).toMatchObject({ status: 409, body: { error_code: 'MTA_STS_NOT_READY' } })
    const { problems } = refused.body.data as { problems: string[] }
    expect(problems.join('\n')).toMatch(
      /no certificate for mail.*other\.test besides.*no record _mta-sts.*cannot be fetched/s,
    )
    expect(await get()).toMatchObject({ mode: 'testing' })
    dns.state.silent = true
    expect((await acme.put(path(), { mode: 'enforce' })).status).toBe(409)
  })

  it('falls back to testing when MX records change, and comes back', async () => {
    await hostCertificate()
    await store({ mta_sts_mode: 'enforce' })
    const look = async () => {
      app.clock.advance(2 * HOUR_MS)
      await watchMtaSts.run(app.core)
      return (await served()).text.match(/mode: (\w+)/)?.[1]
    }
    dns.state.records = { 'acme.test': { MX: [HOST] } }
    expect(await look()).toBe('enforce')
    dns.state.records = { 'acme.test': { MX: ['elsewhere.test'] } }
    expect(await look()).toBe('testing')
    dns.state.silent = true
    expect(await look()).toBe('testing')
    dns.state.silent = false
    dns.state.records = { 'acme.test': { MX: [HOST] } }
    expect(await look()).toBe('enforce')
    const events = await app.core.db
      .selectFrom('events')
      .select('data')
      .where('event', '=', 'domain.updated')
      .where('org_id', '=', acme.organizationId)
      .execute()
    const fields = events.map(
      ({ data }) => (data as { updated_fields: string[] }).updated_fields[0],
    )
    expect(fields.filter((field) => field === 'mta_sts_problem')).toHaveLength(2)
  })

  it('is looked at while the DNS servers of another tenant never answer', async () => {
    await hostCertificate()
    // The domain of the other tenant is due first.
    const due = (mta_sts_checked_at: string) => ({
      mta_sts_mode: 'enforce' as const,
      mta_sts_checked_at,
    })
    await store(due('2020-01-01T00:00:00Z'), globex.domainId)
    await store(due('2021-01-01T00:00:00Z'))
    dns.state.silentAbout = ['globex.test']
    dns.state.records = { 'acme.test': { MX: ['elsewhere.test'] } }
    await watchMtaSts.run(app.core)
    expect((await served()).text).toContain('mode: testing')
    expect((await served('mta-sts.globex.test')).text).toContain('mode: enforce')
    await store({ mta_sts_mode: 'testing' }, globex.domainId)
  })

  it('is looked at while DNS of many domains of another tenant is silent', async () => {
    await hostCertificate()
    const due = { mta_sts_mode: 'enforce', mta_sts_checked_at: '2020-01-01T00:00:00Z' } as const
    for (let count = 0; count < 25; count++) {
      const domain = `globex-${count}.test`
      const { id } = await app.hostedDomain(globex, { domain })
      await store(due, id)
      dns.state.silentAbout.push(domain)
    }
    await store({ ...due, mta_sts_checked_at: '2021-01-01T00:00:00Z' })
    dns.state.records = { 'acme.test': { MX: ['elsewhere.test'] } }
    await watchMtaSts.run(app.core)
    expect((await served()).text).toContain('mode: testing')
  })

  describe('of more due domains than one portion, of two tenants', () => {
    const names: string[] = []
    beforeAll(async () => {
      for (const tenant of [acme, globex]) {
        for (let count = 0; count < 60; count++) {
          const domain = `many-${count}.${tenant.domain}`
          await app.hostedDomain(tenant, { domain })
          names.push(domain)
        }
      }
    })
    beforeEach(async () => {
      await app.core.db
        .updateTable('domains')
        .set({
          mta_sts_mode: 'enforce',
          mta_sts_problem: null,
          mta_sts_checked_at: '2020-01-01T00:00:00Z',
        })
        .where('domain', 'in', names)
        .execute()
      dns.state.records = Object.fromEntries(
        names.map((name) => [name, { MX: ['elsewhere.test'] }]),
      )
    })
    afterAll(() => app.core.db.deleteFrom('domains').where('domain', 'in', names).execute())
    const found = async () =>
      (
        await app.core.db
          .selectFrom('domains')
          .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
          .select('organizations.id')
          .where('domain', 'in', names)
          .where('mta_sts_problem', 'is not', null)
          .execute()
      ).map(({ id }) => id)

    it('is looked at for all of them in one run', async () => {
      await watchMtaSts.run(app.core)
      expect(await found()).toHaveLength(names.length)
    })

    it('is looked at by the next run when the resolvers were silent, for both tenants', async () => {
      dns.state.silent = true
      await watchMtaSts.run(app.core)
      expect(await found()).toEqual([])
      dns.state.silent = false
      await watchMtaSts.run(app.core)
      const answered = await found()
      // The looks at silent resolvers count: their domains are due in an hour again.
      expect(answered.length).toBeGreaterThanOrEqual(names.length - 40)
      for (const { organizationId } of [acme, globex]) {
        const own = answered.filter((id) => id === organizationId)
        expect(own.length).toBeGreaterThanOrEqual(names.length / 2 - 20)
      }
      app.clock.advance(2 * HOUR_MS)
      await watchMtaSts.run(app.core)
      expect(await found()).toHaveLength(names.length)
    })
  })

  it('belongs to its organization', async () => {
    expect((await globex.get(path())).status).toBe(404)
    expect((await globex.put(path(), { mode: 'none' })).status).toBe(404)
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect((await reader.put(path(), { mode: 'none' })).status).toBe(403)
    expect((await acme.put(path(), { mode: 'maybe' })).status).toBe(422)
    expect((await get()).mode).toBe('testing')
  })
})
