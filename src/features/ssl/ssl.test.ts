import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { makeCertificate } from '../../../test/support/certificates.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { DAY_MS } from '../../lib/time.ts'

const BASE = '/api/v1/ssl'

let folder: string
let rootCertificates: string
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-ssl-'))
  rootCertificates = mkdtempSync(join(tmpdir(), 'mailplane-roots-'))
  writeFileSync(join(rootCertificates, 'root.pem'), makeCertificate('root.test').certificate)
  app = await startApp({
    env: { SVC_CERTIFICATE_DIR: `${folder}/`, SSL_CERT_DIR: rootCertificates },
  })
  acme = await app.tenant('acme')
  operator = await app.operator('operator')
})
afterEach(() => {
  app.clock.reset()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
})
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
  rmSync(rootCertificates, { recursive: true, force: true })
})

interface Item {
  domain: string
  status: string
  error_message: string | null
  days_until_expiry: number | null
}
const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content)
const list = async (query = '') => {
  const answer = await operator.get(`${BASE}/certificates?${query}`)
  expect(answer.status).toBe(200)
  return answer.body.data as { items: Item[]; pagination: object; schema_note?: string }
}
const domains = async (query = '') => (await list(query)).items.map(({ domain }) => domain)

describe('certificate list', () => {
  it('returns one empty page without certificates, whatever SSL_CERT_DIR of OpenSSL holds (B7.4)', async () => {
    expect(await list()).toEqual({
      items: [],
      pagination: { page: 1, per_page: 50, total: 0, total_pages: 1 },
    })
  })

  it('returns the data of the files and their organization', async () => {
    const made = makeCertificate('acme.test')
    put('acme.test.pem', made.key + made.certificate)
    mkdirSync(join(folder, 'imap'))
    put('imap/fullchain.pem', makeCertificate('imap.acme.test', 'rsa').certificate)
    put('imap/privkey.pem', made.key)
    put('elsewhere.crt', makeCertificate('elsewhere.test').certificate)
    put('notes.txt', 'nothing')
    const { items } = await list('sort_by=domain')
    expect(items).toEqual([
      {
        id: expect.any(String),
        domain: 'acme.test',
        organization_id: acme.organizationId,
        organization_name: 'acme',
        status: 'active',
        issuer: 'acme.test',
        algorithm: 'ECDSA',
        key_size: 256,
        auto_renew: false,
        error_message: null,
        valid_from: expect.any(String),
        valid_until: expect.any(String),
        days_until_expiry: expect.any(Number),
        issued_at: expect.any(String),
        last_renewed: null,
      },
      expect.objectContaining({ domain: 'elsewhere.test', organization_id: null }),
      expect.objectContaining({
        domain: 'imap.acme.test',
        organization_id: acme.organizationId,
        algorithm: 'RSA',
        key_size: 2048,
      }),
    ])
    expect(JSON.stringify(items)).not.toContain('PRIVATE KEY')
  })

  it('reports broken and hostile files as failed and skips files that are no certificates', async () => {
    const good = makeCertificate('good.test')
    const foreign = makeCertificate('other.test')
    put('good.test.pem', good.certificate)
    put('empty.test.pem', '')
    put('junk.test.pem', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7) % 256)))
    put('cut.test.pem', good.certificate.slice(0, 300))
    put('mixed.test.pem', foreign.key + good.certificate)
    put('huge.test.pem', Buffer.alloc(300 * 1024, 65))
    put('only-a-key.pem', good.key)
    put("'; drop table certificates; --.pem", 'no')
    mkdirSync(join(folder, 'folder.pem'))
    symlinkSync('nowhere', join(folder, 'dangling.pem'))
    symlinkSync('loop.pem', join(folder, 'loop.pem'))
    spawnSync('mkfifo', [join(folder, 'pipe.pem')])
    const { items } = await list('sort_by=domain')
    const reported = items.map(({ domain, status, error_message }) => [
      domain,
      status,
      error_message,
    ])
    expect(reported).toEqual([
      ['cut.test', 'failed', 'there is no certificate in the file'],
      ['empty.test', 'failed', 'the file is not a certificate'],
      ['good.test', 'active', null],
      ['huge.test', 'failed', 'the file is too large for a certificate'],
      ['junk.test', 'failed', 'the file is not a certificate'],
      ['mixed.test', 'failed', 'the key in the file is not the key of its certificate'],
      ['unknown', 'failed', expect.any(String)],
      ['unknown', 'failed', expect.any(String)],
    ])
    expect(reported.at(-1)?.[2] === reported.at(-2)?.[2]).toBe(false)
  })

  it('reflects files that are changed, added or deleted', async () => {
    put('acme.test.pem', 'not yet')
    expect((await list()).items).toMatchObject([{ domain: 'acme.test', status: 'failed' }])
    put('acme.test.pem', makeCertificate('acme.test').certificate)
    expect((await list()).items).toMatchObject([{ status: 'active', error_message: null }])
    const first = (await list()).items[0] as Item & { last_renewed: string | null; id: string }
    expect(first.last_renewed).toBeNull()
    put('acme.test.pem', makeCertificate('acme.test').certificate)
    const second = (await list()).items[0] as typeof first
    expect(second).toMatchObject({ id: first.id, last_renewed: expect.any(String) })
    put('more.pem', makeCertificate('more.test').certificate)
    expect(await domains('sort_by=domain')).toEqual(['acme.test', 'more.test'])
    rmSync(join(folder, 'acme.test.pem'))
    expect(await domains()).toEqual(['more.test'])
  })

  it('keeps the last state and returns a note while the folder cannot be read', async () => {
    put('acme.test.pem', makeCertificate('acme.test').certificate)
    await list()
    rmSync(folder, { recursive: true })
    const { items, schema_note } = await list()
    expect(items).toHaveLength(1)
    expect(schema_note).toMatch(/cannot be read \(ENOENT\)/)
  })

  it('filters, sorts and reports expired certificates by the clock', async () => {
    for (const domain of ['b.test', 'a.test']) {
      put(`${domain}.pem`, makeCertificate(domain).certificate)
    }
    put('c.test.pem', 'broken')
    expect(await domains('sort_by=domain&sort_dir=desc')).toEqual(['c.test', 'b.test', 'a.test'])
    expect((await domains()).at(-1)).toBe('c.test')
    expect((await domains('sort_dir=desc')).at(-1)).toBe('c.test')
    expect(await domains('domain=B.TE')).toEqual(['b.test'])
    expect(await domains('domain=%25')).toEqual([])
    expect(await domains('status=failed')).toEqual(['c.test'])
    expect(await domains('expiring_days=30')).toEqual([])
    expect(await domains('expiring_days=400&sort_by=domain')).toEqual(['a.test', 'b.test'])
    expect(await domains('per_page=1&page=3&sort_by=domain')).toEqual(['c.test'])
    app.clock.advance(400 * DAY_MS)
    const late = await app.operator('operator')
    const { body } = await late.get(`${BASE}/certificates?status=expired&sort_by=domain`)
    expect(body.data.items).toMatchObject([
      { domain: 'a.test', status: 'expired', days_until_expiry: expect.any(Number) },
      { domain: 'b.test' },
    ])
    expect(body.data.items[0].days_until_expiry).toBeLessThan(0)
    const ended = await late.get(`${BASE}/certificates?expiring_days=0`)
    expect(ended.body.data.items).toHaveLength(2)
  })

  it.each([
    ['status=good', /^status must be one of active, expired, revoked, pending, failed$/],
    ['sort_by=issuer', /^sort_by must be one of valid_until, domain, status, issued_at$/],
    ['sort_dir=up', /^sort_dir must be/],
    ['expiring_days=-1', /^expiring_days must be at least 0$/],
    ['page=0', /^page must be at least 1$/],
  ])('rejects the query %s', async (query, message) => {
    const { status, body } = await operator.get(`${BASE}/certificates?${query}`)
    expect({ status, msg: body.msg }).toEqual({ status: 422, msg: expect.stringMatching(message) })
  })
})

it('returns the certificate of a domain in any case, or 404 with the domain', async () => {
  put('acme.test.pem', makeCertificate('acme.test').certificate)
  expect(await operator.get(`${BASE}/certificates/ACME.test`)).toMatchObject({
    status: 200,
    body: { msg: 'Certificate retrieved', data: { domain: 'acme.test', status: 'active' } },
  })
  expect(await operator.get(`${BASE}/certificates/nowhere.test`)).toMatchObject({
    status: 404,
    body: { msg: 'No certificate found for nowhere.test' },
  })
})

describe('SSL status', () => {
  it('counts certificates here and in the platform overview', async () => {
    put('acme.test.pem', makeCertificate('acme.test').certificate)
    put('broken.pem', '-')
    const { body } = await operator.get(`${BASE}/status`)
    expect(body).toMatchObject({ msg: 'SSL status retrieved' })
    expect(body.data).toEqual({
      certificates: {
        active: 1,
        expired: 0,
        revoked: 0,
        pending: 0,
        failed: 1,
        total: 2,
        expiring_soon: 0,
      },
      last_issued: { domain: 'acme.test', issued_at: expect.any(String) },
      timestamp: expect.any(String),
      acme_accounts_total: 0,
    })
    app.clock.advance(340 * DAY_MS)
    const late = await app.operator('admin')
    const soon = (await late.get(`${BASE}/status`)).body.data
    expect(soon.certificates).toMatchObject({ active: 1, expiring_soon: 1 })
    expect(soon.acme_accounts).toEqual([])
    const short = (await late.get(`${BASE}/status?include_accounts=false`)).body.data
    expect(short).not.toHaveProperty('acme_accounts')
    expect(short).not.toHaveProperty('acme_accounts_total')
    const overview = (await late.get('/api/v1/platform/overview')).body.data
    expect(overview.certificates).toEqual({
      total: 2,
      expiring_30d: 1,
      expiring_7d: 0,
      soonest_expiry_days: expect.any(Number),
    })
  })
})

describe('certificate renewal', () => {
  it('rejects a request without a reason', async () => {
    for (const body of [{}, { reason: '' }, { reason: 7 }]) {
      const answer = await operator.post(`${BASE}/certificates/acme.test/renew`, body)
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'reason'] }] } })
    }
  })

  it('returns 501 without a CA and records that in the audit trail', async () => {
    const renew = { reason: 'the key leaked' }
    expect(await operator.post(`${BASE}/certificates/acme.test/renew`, renew)).toMatchObject({
      status: 501,
      body: { type: 'error', error_code: 'CERT_RENEW_UNAVAILABLE' },
    })
    const row = await waitFor(() =>
      app.core.db
        .selectFrom('operator_audit')
        .select(['target_id', 'result', 'status_code', 'request_body'])
        .where('action', '=', 'renew_certificate')
        .where('status_code', '=', 501)
        .executeTakeFirst(),
    )
    expect(row).toMatchObject({ target_id: 'acme.test', result: 'failure', request_body: renew })
  })
})

it('returns no ACME accounts before the first order', async () => {
  const admin = await app.operator('admin')
  expect((await admin.get(`${BASE}/accounts`)).body).toEqual({
    type: 'success',
    msg: 'ACME accounts retrieved',
    data: { accounts: [], total: 0 },
  })
})
