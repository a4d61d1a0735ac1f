import { X509Certificate } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { certManager } from '../../src/daemons/cert-manager.ts'
import { insert as insertOrder } from '../../src/features/ssl/acme/orders.repository.ts'
import { orderRenewals } from '../../src/features/ssl/acme/renewals.ts'
import { copyCertificates, openContent } from '../../src/features/ssl/contents/contents.ts'
import { inventory } from '../../src/features/ssl/inventory/inventory.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { type App, startApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { type Pebble, pebbleMissing, preparePebble } from '../support/pebble.ts'
import { waitFor } from '../support/wait.ts'

const BASE = '/api/v1/ssl'
const WHY = { reason: 'the first one' }
const HERE = { A: ['127.0.0.1'] }
const title = pebbleMissing === undefined ? '' : ` (skipped: ${pebbleMissing})`

describe.skipIf(pebbleMissing)(`certificates from a CA${title}`, () => {
  let folder: string
  let pebble: Pebble
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  let app: App
  let manager: Awaited<ReturnType<typeof certManager.start>>
  let operator: Awaited<ReturnType<App['operator']>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mailplane-certificates-'))
    pebble = await preparePebble()
    dns = await startDnsServer({
      'acme.test': HERE,
      'mail.acme.test': HERE,
      'smtp.acme.test': HERE,
      'imap.acme.test': { A: ['127.0.0.1', '192.0.2.1'] },
      'autoconfig.acme.test': HERE,
      'autodiscover.acme.test': { A: ['192.0.2.1'] },
      'nobody-answers.test': { A: ['127.0.0.9'] },
      'elsewhere.test': { A: ['192.0.2.7'] },
      'mx.host.test': HERE,
    })
    app = await startApp({
      env: {
        ...pebble.env,
        SVC_CERTIFICATE_DIR: folder,
        SVC_DNS_SERVERS: dns.address,
        SVC_MAIL_HOSTNAME: 'mx.host.test',
        CERT_SERVER_IPS: '127.0.0.0/8',
        CERT_RETRY_SCHEDULE: '0,0',
      },
    })
    await pebble.start(Number(new URL(app.base).port), dns.address)
    await app.tenant('acme')
    const globex = await app.tenant('globex')
    const add = { domain: 'smtp.acme.test', dkim_enabled: false }
    await app.hostedDomain(globex, add)
    for (const domain of ['nobody-answers.test', 'elsewhere.test']) {
      await app.hostedDomain(globex, { domain, dkim_enabled: false })
    }
    manager = await certManager.start(app.core)
  })
  afterAll(async () => {
    await manager?.stop()
    await app?.stop()
    await dns?.stop()
    await pebble?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    operator = await app.operator('admin')
  })

  const get = async (domain: string) =>
    (await operator.get(`${BASE}/certificates/${domain}`)).body.data
  const renew = (domain: string) => operator.post(`${BASE}/certificates/${domain}/renew`, WHY)
  const settled = (domain: string) =>
    waitFor(async () => {
      const open = await app.core.db
        .selectFrom('acme_orders')
        .innerJoin('certificates', 'certificates.id', 'certificate_id')
        .select('acme_orders.id')
        .where('certificates.domain', '=', domain)
        .where('state', 'in', ['waiting', 'running'])
        .execute()
      return open.length === 0 && (await isCopied(domain)) && (await get(domain))
    }, 60_000)
  const fileOf = (domain: string) => readFileSync(join(folder, `${domain}.pem`), 'utf8')
  /** The file follows the row. */
  const isCopied = async (domain: string) => {
    const row = await app.core.db
      .selectFrom('certificates')
      .select('fingerprint')
      .where('domain', '=', domain)
      .executeTakeFirst()
    if (!row?.fingerprint) return true
    if (!existsSync(join(folder, `${domain}.pem`))) return false
    const { fingerprint256 } = new X509Certificate(fileOf(domain))
    return fingerprint256.replaceAll(':', '').toLowerCase() === row.fingerprint
  }

  it('are issued for the names of the domain that resolve to this host and belong to no other tenant', async () => {
    const renewal = await renew('ACME.test')
    expect(renewal).toMatchObject({
      status: 202,
      body: {
        msg: 'Certificate renewal requested',
        data: { domain: 'acme.test', organization_name: 'acme', auto_renew: true },
      },
    })
    const certificate = await settled('acme.test')
    expect(certificate).toMatchObject({
      id: renewal.body.data.id,
      status: 'active',
      error_message: null,
      algorithm: 'ECDSA',
      key_size: 256,
      issuer: expect.stringMatching(/^Pebble Intermediate CA/),
      last_renewed: null,
    })
    const written = new X509Certificate(fileOf('acme.test'))
    expect(written.subjectAltName).toBe(
      'DNS:acme.test, DNS:mail.acme.test, DNS:autoconfig.acme.test',
    )
    expect(fileOf('acme.test')).toMatch(/^-----BEGIN PRIVATE KEY-----/)
    expect(fileOf('acme.test').match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(1)
    expect(statSync(join(folder, 'acme.test.pem')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['acme.test.pem'])
  })

  it('leave no secret and no challenge in the database', async () => {
    const accounts = await app.core.db.selectFrom('acme_accounts').selectAll().execute()
    expect(accounts).toHaveLength(2)
    for (const { account_key } of accounts) {
      expect(Buffer.from(account_key).toString('latin1')).not.toContain('PRIVATE KEY')
    }
    const certificates = await app.core.db.selectFrom('certificates').selectAll().execute()
    expect(JSON.stringify(certificates)).not.toContain('PRIVATE KEY')
    const { sealed_content } = certificates[0] ?? {}
    expect(Buffer.from(sealed_content ?? '').toString('latin1')).not.toContain('PRIVATE KEY')
    expect(await app.core.db.selectFrom('acme_challenges').selectAll().execute()).toEqual([])
    const { text } = await operator.get(`${BASE}/accounts`)
    expect(text).not.toMatch(/account_key|PRIVATE/)
  })

  it('are renewed early with a new key at the request of an operator', async () => {
    const before = fileOf('acme.test')
    expect((await renew('acme.test')).body.data.status).toBe('active')
    const certificate = await settled('acme.test')
    expect(certificate).toMatchObject({ status: 'active', last_renewed: expect.any(String) })
    expect(fileOf('acme.test').slice(0, 200)).not.toBe(before.slice(0, 200))
    const { data } = (await operator.get(`${BASE}/accounts`)).body
    // Both accounts were used in turn.
    expect(data).toMatchObject({
      total: 2,
      accounts: [
        { email: 'one@ops.test', certs_issued: 1, success_count: 1, success_rate: 100 },
        { email: 'two@ops.test', certs_issued: 1, failure_count: 0 },
      ].map((one) => expect.objectContaining({ ...one, registered_at: expect.any(String) })),
    })
  })

  it('are issued for the mail host, and for no name that is not hosted here', async () => {
    expect((await renew('mx.host.test')).status).toBe(202)
    expect(await settled('mx.host.test')).toMatchObject({
      status: 'active',
      organization_id: null,
    })
    for (const domain of [
      'google.com',
      'mail.acme.test',
      '..%2f..%2fetc%2fpasswd',
      '*.acme.test',
    ]) {
      expect(await renew(domain)).toMatchObject({ status: 404 })
    }
  })

  it('keep the key of the mail host when they are renewed, and take the next key on request', async () => {
    const keys = () =>
      app.core.db
        .selectFrom('certificates')
        .select(['id', 'fingerprint', 'key_hash', 'next_key_hash'])
        .where('domain', '=', 'mx.host.test')
        .executeTakeFirstOrThrow()
    const first = await keys()
    expect(first.next_key_hash).toMatch(/^[0-9a-f]{64}$/)
    await app.core.db.transaction().execute((tx) => insertOrder(tx, first.id))
    await settled('mx.host.test')
    const renewed = await keys()
    expect(renewed.fingerprint).not.toBe(first.fingerprint)
    expect(renewed).toMatchObject({ key_hash: first.key_hash, next_key_hash: first.next_key_hash })
    await renew('mx.host.test')
    await settled('mx.host.test')
    const changed = await keys()
    expect(changed.key_hash).toBe(first.next_key_hash)
    expect(changed.next_key_hash).not.toBe(first.next_key_hash)
    expect(readdirSync(folder)).not.toContain('mx.host.test.pem.next.key')
  })

  it('are copied to every machine, with one row for each', async () => {
    const data = mkdtempSync(join(tmpdir(), 'mailplane-machine-'))
    const other = await startApp({
      env: { SVC_CERTIFICATE_DIR: data, SVC_MAIL_HOSTNAME: 'mx.host.test' },
      database: app.database,
    })
    const copy = () => readFileSync(join(data, 'acme.test.pem'), 'utf8')
    await waitFor(() => readdirSync(data).includes('mx.host.test.pem'))
    expect(copy()).toBe(fileOf('acme.test'))
    expect(statSync(join(data, 'acme.test.pem')).mode & 0o777).toBe(0o600)
    await renew('acme.test')
    await settled('acme.test')
    await waitFor(() => copy() === fileOf('acme.test'))
    const there = await other.operator('admin')
    const { items } = (await there.get(`${BASE}/certificates`)).body.data
    const domains = items.map(({ domain }: { domain: string }) => domain)
    expect(domains.sort()).toEqual(['acme.test', 'mx.host.test'])
    await other.stop()
    rmSync(data, { recursive: true })
  })

  it('are stored in the database when they were files only', async () => {
    const row = () =>
      app.core.db
        .selectFrom('certificates')
        .select(['fingerprint', 'sealed_content', 'sealed_next_key'])
        .where('domain', '=', 'mx.host.test')
        .executeTakeFirstOrThrow()
    const before = await row()
    const pem = fileOf('mx.host.test')
    writeFileSync(
      join(folder, 'mx.host.test.pem.next.key'),
      openContent(app.core.vault, before.sealed_next_key as Uint8Array),
    )
    await app.core.db
      .updateTable('certificates')
      .set({ sealed_content: null, sealed_next_key: null })
      .where('domain', '=', 'mx.host.test')
      .execute()
    await copyCertificates(app.core)
    const after = await row()
    expect(after.fingerprint).toBe(before.fingerprint)
    expect(openContent(app.core.vault, after.sealed_content as Uint8Array)).toBe(pem)
    expect(openContent(app.core.vault, after.sealed_next_key as Uint8Array)).toContain('PRIVATE')
  })

  it('are ordered again when more names lead here', async () => {
    const renewals = orderRenewals(app.core.config, inventory(app.core))
    const namesIn = async () => new X509Certificate(fileOf('acme.test')).subjectAltName
    dns.state.records['mta-sts.acme.test'] = HERE
    await renewals.run(app.core)
    await settled('acme.test')
    expect(await namesIn()).not.toContain('mta-sts')
    await app.core.db
      .updateTable('acme_orders')
      .set({ created_at: new Date(Date.now() - 8 * DAY_MS).toISOString() })
      .execute()
    await renewals.run(app.core)
    await settled('acme.test')
    expect(await namesIn()).toContain('DNS:mta-sts.acme.test')
  })

  it('fail after three attempts with the message of the CA', async () => {
    await renew('nobody-answers.test')
    const failed = await settled('nobody-answers.test')
    expect(failed).toMatchObject({ status: 'failed', valid_until: null })
    expect(failed.error_message).toMatch(/refused|connect|timeout/i)
    const order = await app.core.db
      .selectFrom('acme_orders')
      .select(['state', 'attempts'])
      .where('certificate_id', '=', failed.id)
      .executeTakeFirst()
    expect(order).toEqual({ state: 'failed', attempts: 3 })
    await renew('elsewhere.test')
    expect((await settled('elsewhere.test')).error_message).toMatch(
      /^neither elsewhere\.test nor a mail host below it leads here$/,
    )
    expect((await operator.get(`${BASE}/status`)).body.data.certificates.failed).toBe(2)
  })

  it('are completed by another process when the lease of an order has expired', async () => {
    const before = fileOf('acme.test')
    await app.core.db.transaction().execute(async (tx) => {
      await tx
        .insertInto('acme_orders')
        .values({
          id: ulid(),
          certificate_id: (await get('acme.test')).id,
          state: 'running',
          attempts: 1,
          lease_until: new Date(Date.now() - 1000).toISOString(),
        })
        .execute()
    })
    await settled('acme.test')
    expect(fileOf('acme.test')).not.toBe(before)
  })

  it('are issued automatically for verified domains that resolve to this host, and renewed before they expire', async () => {
    const renewals = orderRenewals(app.core.config, inventory(app.core))
    expect(await get('globex.test')).toBeUndefined()
    dns.state.records['globex.test'] = HERE
    // The DNS servers of another tenant never answer.
    await app.tenant('silent')
    dns.state.silentAbout = ['silent.test']
    await renewals.run(app.core)
    dns.state.silentAbout = []
    expect(await settled('globex.test')).toMatchObject({ status: 'active', auto_renew: true })
    const lost = fileOf('acme.test')
    rmSync(join(folder, 'acme.test.pem'))
    await renewals.run(app.core)
    expect(await settled('acme.test')).toMatchObject({ status: 'active', error_message: null })
    expect(fileOf('acme.test')).toBe(lost)
    const { valid_until } = await get('acme.test')
    const soon = Date.parse(valid_until) - app.clock.now().getTime() - 29 * DAY_MS
    const before = fileOf('acme.test')
    await renewals.run(app.core)
    expect((await settled('acme.test')).valid_until).toBe(valid_until)
    expect(fileOf('acme.test')).toBe(before)
    app.clock.advance(soon)
    operator = await app.operator('admin')
    await renewals.run(app.core)
    await settled('acme.test')
    expect(fileOf('acme.test')).not.toBe(before)
    app.clock.advance(-soon)
  })

  it('wait when the weekly limit of the CA is used up', async () => {
    operator = await app.operator('admin')
    const { id } = await get('acme.test')
    const done = Array.from({ length: 40 }, () => ({
      id: ulid(),
      certificate_id: id as string,
      state: 'done' as const,
      begun_at: new Date().toISOString(),
      finished_at: new Date().toISOString(),
    }))
    await app.core.db.insertInto('acme_orders').values(done).execute()
    const before = fileOf('acme.test')
    await renew('acme.test')
    const waiting = await waitFor(async () => {
      const certificate = await get('acme.test')
      return certificate.error_message && certificate
    })
    expect(waiting).toMatchObject({ status: 'active' })
    expect(waiting.error_message).toMatch(/CERT_WEEKLY_LIMIT/)
    expect(fileOf('acme.test')).toBe(before)
  })

  it('serve a challenge only for its exact token', async () => {
    for (const token of ['nothing', '..%2f..%2fsecret-key', 'a'.repeat(300)]) {
      const answer = await app.send('GET', `/.well-known/acme-challenge/${token}`)
      expect(answer).toMatchObject({ status: 404, body: { msg: 'Challenge not found' } })
    }
  })
})
