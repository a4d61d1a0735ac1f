import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startDnsServer } from '../../../../test/support/dns-server.ts'
import { ulid } from '../../../lib/ulid.ts'

const HOST = 'mail.host.test'
const WEB = 'panel.host.test'

let app: App
let dns: Awaited<ReturnType<typeof startDnsServer>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  dns = await startDnsServer()
  app = await startApp({
    env: {
      SVC_DNS_SERVERS: dns.address,
      SVC_DNS_TIMEOUT: '1',
      SVC_MAIL_HOSTNAME: HOST,
      SVC_PUBLIC_URL: `https://${WEB}`,
      ACME_DIRECTORY_URL: 'https://acme-v02.api.letsencrypt.org/directory',
    },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(async () => {
  await app.stop()
  await dns.stop()
})
afterEach(() => {
  dns.state.records = {}
  dns.state.silent = false
})

interface Shown {
  type: string
  name: string
  value: string
  priority: number | null
  required: boolean
  status?: string
  found?: string[]
}
const get = async (query = '') =>
  (await acme.get(`/api/v1/domains/${acme.domainId}/dns-records${query}`)).body.data as {
    records: Shown[]
    host_records: Shown[]
    zone_file: string
    checked_at: string | null
  }
const named = (records: Shown[], name: string, type = 'TXT') =>
  records.find((one) => one.name === name && one.type === type) as Shown
const heartbeat = (name: string) => {
  const at = app.clock.now().toISOString()
  const beat = { instance: 'one', name, host: 'x', address: 'http://x' }
  return app.core.db
    .insertInto('daemon_heartbeats')
    .values({ ...beat, started_at: at, seen_at: at })
    .execute()
}

describe('the DNS records of a domain', () => {
  it('are everything that a well-run domain publishes', async () => {
    const { records } = await get()
    expect(records.map(({ type, name }) => `${type} ${name}`)).toEqual([
      'MX acme.test',
      'TXT acme.test',
      'TXT _dmarc.acme.test',
      'TXT _mta-sts.acme.test',
      'CNAME mta-sts.acme.test',
      'TXT _smtp._tls.acme.test',
      'CAA acme.test',
      'CNAME autoconfig.acme.test',
      'CNAME autodiscover.acme.test',
      'SRV _autodiscover._tcp.acme.test',
      'SRV _imaps._tcp.acme.test',
      'SRV _submissions._tcp.acme.test',
      'SRV _submission._tcp.acme.test',
      'SRV _pop3s._tcp.acme.test',
      'TXT _mailplane.acme.test',
    ])
    expect(named(records, '_smtp._tls.acme.test').value).toBe(
      `v=TLSRPTv1; rua=https://${WEB}/tls-rpt`,
    )
    expect(named(records, 'acme.test', 'CAA').value).toBe('0 issue "letsencrypt.org"')
    expect(named(records, '_submissions._tcp.acme.test', 'SRV')).toMatchObject({
      value: `1 465 ${HOST}.`,
      priority: 0,
      required: false,
    })
    const { dns_records } = (await acme.get(`/api/v1/domains/${acme.domainId}`)).body.data
    expect(dns_records).toEqual(records)
  })

  it('have calendars, contacts and JMAP while these services run', async () => {
    await heartbeat('caldav')
    await heartbeat('jmap')
    const { records } = await get()
    await app.core.db.deleteFrom('daemon_heartbeats').execute()
    expect(named(records, '_carddavs._tcp.acme.test').value).toBe('path=/dav/')
    expect(named(records, '_caldavs._tcp.acme.test', 'SRV').value).toBe(`1 443 ${WEB}.`)
    expect(named(records, '_jmap._tcp.acme.test', 'SRV').value).toBe(`1 443 ${WEB}.`)
  })

  it('have the DKIM record of every selector', async () => {
    const { id } = await app.hostedDomain(acme, { domain: 'signed.test' })
    const admin = await app.key(acme.organizationId, { permissions: { admin_access: true } })
    const rotated = await admin.post(`/api/v1/domains/${id}/dkim-keys`, {})
    expect(rotated.status).toBeLessThan(300)
    const answer = await acme.get(`/api/v1/domains/${id}/dns-records`)
    const keys = (answer.body.data.records as Shown[]).filter(({ name }) =>
      name.endsWith('._domainkey.signed.test'),
    )
    expect(keys.map(({ required }) => required)).toEqual([true, false])
  })

  it('are a zone file too', async () => {
    const { zone_file, records } = await get()
    const lines = zone_file.trim().split('\n')
    expect(lines[0]).toBe('$ORIGIN acme.test.')
    expect(lines).toHaveLength(records.length + 1)
    expect(lines).toContain(`acme.test.\t3600\tIN\tMX\t10 ${HOST}.`)
    expect(lines).toContain(`_imaps._tcp.acme.test.\t3600\tIN\tSRV\t0 1 993 ${HOST}.`)
    expect(lines).toContain('acme.test.\t3600\tIN\tCAA\t0 issue "letsencrypt.org"')
    expect(zone_file).toContain('\tTXT\t"v=STSv1; id=')
  })

  it('name the keys of the mail host for DANE, the present and the next', async () => {
    const hashes = ['a'.repeat(64), 'b'.repeat(64)]
    await app.core.db
      .insertInto('certificates')
      .values({
        id: ulid(),
        domain: HOST,
        names: [HOST],
        status: 'active',
        path: '/certificates/host.pem',
        key_hash: hashes[0] as string,
        next_key_hash: hashes[1] as string,
      })
      .execute()
    const { host_records, zone_file } = await get()
    expect(host_records.map(({ name, value }) => `${name} ${value}`)).toEqual(
      hashes.map((hash) => `_25._tcp.${HOST} 3 1 1 ${hash}`),
    )
    expect(zone_file).not.toContain('TLSA')
  })

  it('are compared with DNS on request', async () => {
    const { records, checked_at } = await get()
    expect(checked_at).toBeNull()
    expect(records[0]?.status).toBeUndefined()
    dns.state.records = {
      [WEB]: { A: ['192.0.2.80'] },
      'acme.test': { MX: [HOST] },
      '_mta-sts.acme.test': { TXT: [named(records, '_mta-sts.acme.test').value] },
      'mta-sts.acme.test': { CNAME: [WEB] },
      'autoconfig.acme.test': { A: ['192.0.2.80'] },
      'autodiscover.acme.test': { A: ['198.51.100.1'] },
      '_smtp._tls.acme.test': { TXT: ['v=TLSRPTv1; rua=mailto:x@elsewhere.test'] },
    }
    const checked = await get('?check=true')
    const status = (name: string, type: string) => named(checked.records, name, type).status
    expect(checked.checked_at).not.toBeNull()
    expect({
      mx: status('acme.test', 'MX'),
      id: status('_mta-sts.acme.test', 'TXT'),
      alias: status('mta-sts.acme.test', 'CNAME'),
      address: status('autoconfig.acme.test', 'CNAME'),
      elsewhere: status('autodiscover.acme.test', 'CNAME'),
      reports: status('_smtp._tls.acme.test', 'TXT'),
      service: status('_imaps._tcp.acme.test', 'SRV'),
    }).toEqual({
      mx: 'pass',
      id: 'pass',
      alias: 'pass',
      address: 'pass',
      elsewhere: 'different',
      reports: 'different',
      service: 'missing',
    })
    const verified = await acme.get(`/api/v1/domains/${acme.domainId}/verify-dns`)
    expect(verified.body.data.records).toEqual(checked.records)
  })

  it('are unknown while DNS is silent', async () => {
    dns.state.silent = true
    const { records } = await get('?check=true')
    expect(new Set(records.slice(0, 14).map(({ status }) => status))).toEqual(new Set(['unknown']))
  })

  it('are found by their organization only', async () => {
    const path = `/api/v1/domains/${acme.domainId}/dns-records`
    expect((await globex.get(path)).status).toBe(404)
    expect((await app.send('GET', path)).status).toBe(401)
    expect((await acme.get('/api/v1/domains/nothing/dns-records?check=true')).status).toBe(404)
  })
})
