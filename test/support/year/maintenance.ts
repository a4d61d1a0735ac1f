import { X509Certificate } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { checkHost } from '../../../src/features/monitoring/host/host-check.ts'
import { DAY_MS } from '../../../src/lib/time.ts'
import { makeCertificate } from '../certificates.ts'
import { openSmtp } from '../smtp-client.ts'
import { waitFor } from '../wait.ts'
import { JANE, LEA, WHY, type Year } from './world.ts'

const ALERTS = '/api/v1/platform/alerts'
const SSL = '/api/v1/ssl'

/** A mailbox and a disk fill up, and mail flows again after both have room. */
export async function september(year: Year) {
  await year.on(9)
  const { acme, globex } = year.story.tenants
  const body = `${'x'.repeat(70)}\n`.repeat(240)
  expect((await acme.put(year.pathOf(JANE), { storage_quota: 20_000 })).status).toBe(200)
  await year.deliver(JANE, 'large', body)
  const crossed = /^storage\.quota\.(warning|exceeded)$/
  await waitFor(async () => (await year.events('acme')).some((name) => crossed.test(name)))
  const usage = (await acme.get(`/api/v1/storage/usage/mailbox/${JANE}`)).body.data.usage
  expect(usage.quota_bytes).toBe(20_000)
  expect(usage.usage_percentage).toBeGreaterThan(80)
  expect((await globex.get(`/api/v1/storage/usage/mailbox/${JANE}`)).status).toBe(404)
  const full = await year.announce(JANE, 15_000)
  expect(full.text).toMatch(/^552 5\.2\.2 .*full/)
  expect((await year.imap(JANE, 'GETQUOTAROOT INBOX')).join()).toMatch(/STORAGE \d+ (19|20)\)/)
  expect((await year.announce(LEA, 15_000)).code).toBe(250)
  expect((await acme.put(year.pathOf(JANE), { storage_quota: 200_000 })).status).toBe(200)
  await year.deliver(JANE, 'large again', body)

  const reading = {
    cpu_percent: 5,
    memory_percent: 30,
    memory_bytes: 1_000_000,
    load_average: [0, 0, 0],
  }
  const disk = async (disk_percent: number) => {
    await checkHost(year.app.core, { ...reading, disk_percent }, 'mail-1')
    const { hosts } = (await year.root().get('/api/v1/monitoring/stats')).body.data
    return hosts.find(
      (one: { host: string; resource: string }) => one.host === 'mail-1' && one.resource === 'disk',
    )
  }
  expect(await disk(92)).toMatchObject({ level: 'critical', percent: 92 })
  expect(await disk(40)).toMatchObject({ level: 'ok' })
  const alerts = (await year.events(null)).filter((name) => name === 'health.system.alert')
  expect(alerts.length).toBeGreaterThanOrEqual(2)
  expect((await acme.get('/api/v1/monitoring/stats')).status).toBe(403)
}

/** A certificate ends, operators are alerted before, and it is renewed. */
export async function october(year: Year) {
  await year.on(10)
  const { acme } = year.story.tenants
  const { host, app } = year
  const channel = { name: 'on call', type: 'email', target: 'oncall@ops-office.test' }
  const channelId = (await year.root().post(`${ALERTS}/channels`, channel)).body.data.id
  const rule = await year.root().post(`${ALERTS}/rules`, {
    name: 'Certificate ends soon',
    metric: 'certificates_expiring_days',
    comparator: '<=',
    threshold: 14,
    severity: 'critical',
    channel_ids: [channelId],
  })
  expect(rule.status, rule.text).toBe(201)
  const notified = (text: string) =>
    waitFor(() => host.sink.to(channel.target).find(({ data }) => data.includes(text)))
  /** The serial number of the certificate that mail programs see; undefined without a session. */
  const presented = async () => {
    let client: Awaited<ReturnType<typeof openSmtp>> | undefined
    try {
      client = await openSmtp({ port: host.ports.submission })
      await client.startTls('acme.test')
      return client.certificate()?.serialNumber
    } catch {
      // A session may end, or not begin, while Postfix takes over another certificate.
      return undefined
    } finally {
      client?.quit()
    }
  }
  const path = `${SSL}/certificates/acme.test`
  const certificate = async () => (await year.root().get(path)).body.data

  const days = Math.round((app.clock.now().getTime() - Date.now()) / DAY_MS) + 10
  const imported = makeCertificate('acme.test', 'ec', days)
  mkdirSync(year.certificates, { recursive: true })
  writeFileSync(`${year.certificates}/new`, imported.key + imported.certificate)
  renameSync(`${year.certificates}/new`, `${year.certificates}/acme.test.pem`)
  expect(await certificate()).toMatchObject({ status: 'active', organization_id: 'acme' })
  expect((await certificate()).days_until_expiry).toBeLessThanOrEqual(10)
  const { serialNumber } = new X509Certificate(imported.certificate)
  await waitFor(async () => (await presented()) === serialNumber)
  await notified('CRITICAL: Certificate ends soon')

  await year.on(10, 15)
  expect(await certificate()).toMatchObject({ status: 'expired', auto_renew: false })
  expect((await year.root().get(`${SSL}/status`)).body.data.certificates.expired).toBe(1)
  expect((await acme.post(`${path}/renew`, WHY)).status).toBe(403)
  const renewal = await year.root().post(`${path}/renew`, WHY)
  expect(renewal.status, renewal.text).toBe(202)
  const renewed = await waitFor(async () => {
    const found = await certificate()
    return found.issuer?.startsWith('Pebble') && found
  })
  expect(renewed).toMatchObject({ status: 'active', auto_renew: true, error_message: null })
  expect(renewed.days_until_expiry).toBeGreaterThan(30)
  await waitFor(async () => ![undefined, serialNumber].includes(await presented()))
  await notified('Resolved: Certificate ends soon')
  expect(await year.canRead(JANE)).toBe(true)
}
