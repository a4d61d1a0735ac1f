import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { forgetTlsReports } from '../../domains/tls-reports/tls-reports.jobs.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const policy = (domain: string, failed = 0, details: object[] = [], type = 'sts') => ({
  policy: { 'policy-type': type, 'policy-domain': domain, 'mx-host': ['mail.localhost'] },
  summary: { 'total-successful-session-count': 5326, 'total-failure-session-count': failed },
  'failure-details': details,
})
const report = (id: string, ...policies: object[]) => ({
  'organization-name': 'Example Inc.',
  'date-range': {
    'start-datetime': '2026-11-15T00:00:00Z',
    'end-datetime': '2026-11-15T23:59:59Z',
  },
  'contact-info': 'sts-reporting@example.com',
  'report-id': id,
  policies,
})
let client = 10
const send = (raw: string | Buffer, type = 'application/tlsrpt+json') =>
  app.send('POST', '/tls-rpt', {
    raw,
    headers: { 'content-type': type },
    from: `127.0.0.${client++ % 200}`,
  })
const sendReport = (...args: Parameters<typeof report>) => send(JSON.stringify(report(...args)))
const shown = async (tenant = acme, query = '') =>
  (await tenant.get(`/api/v1/domains/${tenant.domainId}/tls-reports${query}`)).body.data

describe('a TLS report', () => {
  it('is counted for its domain, packed or not, and once when it arrives twice', async () => {
    const details = [
      { 'result-type': 'certificate-expired', 'failed-session-count': 100 },
      { 'result-type': 'starttls-not-supported', 'failed-session-count': 200 },
      { 'result-type': 'certificate-expired', 'failed-session-count': 3 },
    ]
    const text = JSON.stringify(report('one', policy('ACME.test', 303, details)))
    expect((await send(gzipSync(text), 'application/tlsrpt+gzip')).status).toBe(201)
    expect((await send(text)).status).toBe(201)
    expect(await shown()).toMatchObject({
      domain: 'acme.test',
      days: 30,
      report_count: 1,
      successful: 5326,
      failed: 303,
      failures: [
        { result_type: 'starttls-not-supported', sessions: 200 },
        { result_type: 'certificate-expired', sessions: 103 },
      ],
      reports: [{ reporter: 'Example Inc.', report_id: 'one', policy_type: 'sts' }],
    })
  })

  it('gives each domain its own counts, and domains of others nothing', async () => {
    const mixed = [policy('globex.test', 7, [], 'tlsa'), policy('elsewhere.test', 9)]
    expect((await sendReport('two', ...mixed)).status).toBe(201)
    expect(await shown(globex)).toMatchObject({ report_count: 1, failed: 7, failures: [] })
    const answer = await globex.get(`/api/v1/domains/${acme.domainId}/tls-reports`)
    expect(answer.status).toBe(404)
  })

  it('about no domain that is hosted is answered with 404', async () => {
    await acme.post('/api/v1/domains/', { domain: 'pending.test' })
    for (const domain of ['elsewhere.test', 'pending.test']) {
      expect((await sendReport('three', policy(domain))).status).toBe(404)
    }
    expect((await sendReport('three')).status).toBe(404)
  })

  it.each([
    ['no JSON', 'hello'],
    ['no object', '[]'],
    ['no policies', JSON.stringify({ ...report('x'), policies: {} })],
    ['too many policies', JSON.stringify(report('x', ...Array(101).fill(policy('acme.test'))))],
    ['a negative count', JSON.stringify(report('x', policy('acme.test', -1)))],
    ['a huge count', JSON.stringify(report('x', policy('acme.test', 1e300)))],
    ['a strange type', JSON.stringify(report('x', policy('acme.test', 1, [], 'magic')))],
    [
      'a strange failure',
      JSON.stringify(report('x', policy('acme.test', 1, [{ 'result-type': '<b>' }]))),
    ],
    ['a long id', JSON.stringify(report('x'.repeat(256), policy('acme.test')))],
    ['no dates', JSON.stringify({ ...report('x', policy('acme.test')), 'date-range': {} })],
    ['broken gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3])],
    ['nothing', ''],
  ])('with %s is refused with 400', async (_what, body) => {
    const before = await shown()
    expect((await send(body)).status).toBe(400)
    expect(await shown()).toEqual(before)
  })

  it('is bounded before and after it is unpacked', async () => {
    expect((await send(Buffer.alloc(300_000, ' '))).status).toBe(413)
    expect((await send(gzipSync(Buffer.alloc(50_000_000, ' ')))).status).toBe(413)
  })

  it('is stored at most 500 times a day for a domain', async () => {
    await app.core.db
      .insertInto('tls_reports')
      .values(
        Array.from({ length: 500 }, (_, index) => ({
          id: `flood-${index}`,
          domain_id: globex.domainId,
          reporter: 'flood',
          report_id: String(index),
          policy_type: 'sts' as const,
          starts_at: app.clock.now().toISOString(),
          ends_at: app.clock.now().toISOString(),
          successful: 0,
          failed: 0,
          received_at: app.clock.now().toISOString(),
        })),
      )
      .execute()
    const { report_count } = await shown(globex)
    expect((await sendReport('late', policy('globex.test'))).status).toBe(201)
    expect((await shown(globex)).report_count).toBe(report_count)
  })

  it('is deleted after 90 days', async () => {
    app.clock.advance(89 * DAY_MS)
    await forgetTlsReports.run(app.core)
    expect((await shown(acme, '?days=90')).report_count).toBe(1)
    app.clock.advance(2 * DAY_MS)
    await forgetTlsReports.run(app.core)
    app.clock.reset()
    expect((await shown(acme, '?days=90')).report_count).toBe(0)
  })
})
