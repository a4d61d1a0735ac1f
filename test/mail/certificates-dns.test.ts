import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { certManager } from '../../src/daemons/cert-manager.ts'
import { type App, startApp } from '../support/app.ts'
import { makeDnsHook } from '../support/dns-hook.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { type Pebble, pebbleMissing, preparePebble } from '../support/pebble.ts'
import { waitFor } from '../support/wait.ts'

const BASE = '/api/v1/ssl'
const title = pebbleMissing === undefined ? '' : ` (skipped: ${pebbleMissing})`

describe.skipIf(pebbleMissing)(`certificates with DNS-01 challenges${title}`, () => {
  let folder: string
  let pebble: Pebble
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  let hook: Awaited<ReturnType<typeof makeDnsHook>>
  let app: App
  let manager: Awaited<ReturnType<typeof certManager.start>>
  let operator: Awaited<ReturnType<App['operator']>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mailplane-dns-01-'))
    pebble = await preparePebble()
    dns = await startDnsServer({
      // The tenant lets the zone of the host prove two names; the host itself is elsewhere.
      '_acme-challenge.acme.test': { CNAME: ['acme.test.proofs.host.test'] },
      '_acme-challenge.mail.acme.test': { CNAME: ['mail.acme.test.proofs.host.test'] },
      'acme.test': { A: ['192.0.2.9'] },
      'smtp.acme.test': { A: ['127.0.0.1'] },
      '_acme-challenge.globex.test': { CNAME: ['proofs.host.test'] },
    })
    hook = await makeDnsHook(join(folder, 'hook'), dns)
    app = await startApp({
      env: {
        ...pebble.env,
        SVC_CERTIFICATE_DIR: join(folder, 'certificates'),
        SVC_DNS_SERVERS: dns.address,
        SVC_MAIL_HOSTNAME: 'mx.proofs.host.test',
        CERT_SERVER_IPS: '127.0.0.0/8',
        CERT_RETRY_SCHEDULE: '0',
        ACME_DNS_HOOK: join(folder, 'hook'),
        ACME_DNS_ZONES: 'proofs.host.test',
      },
    })
    await pebble.start(Number(new URL(app.base).port), dns.address)
    await app.tenant('acme')
    await app.tenant('globex')
    manager = await certManager.start(app.core)
    operator = await app.operator('admin')
  })
  afterAll(async () => {
    await manager?.stop()
    await app?.stop()
    await hook?.stop()
    await dns?.stop()
    await pebble?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function obtained(domain: string) {
    const path = `${BASE}/certificates/${domain}`
    expect((await operator.post(`${path}/renew`, { reason: 'a test' })).status).toBe(202)
    return waitFor(async () => {
      const { data } = (await operator.get(path)).body
      return data && data.status !== 'pending' && data
    }, 60_000)
  }

  it('proves names by the record that the tenant delegated, and the others over HTTP', async () => {
    expect(await obtained('acme.test')).toMatchObject({ status: 'active', error_message: null })
    const file = join(folder, 'certificates', 'acme.test.pem')
    await waitFor(() => existsSync(file))
    const pem = readFileSync(file, 'utf8')
    expect(new X509Certificate(pem).subjectAltName).toBe(
      'DNS:acme.test, DNS:mail.acme.test, DNS:smtp.acme.test',
    )
    const changed = hook.calls.map(({ arguments: [verb, record] }) => `${verb} ${record}`).sort()
    expect(changed).toEqual([
      'add acme.test.proofs.host.test',
      'add mail.acme.test.proofs.host.test',
      'remove acme.test.proofs.host.test',
      'remove mail.acme.test.proofs.host.test',
    ])
    expect(dns.state.records['acme.test.proofs.host.test']?.TXT).toEqual([])
  })

  it('runs the hook without the environment of the server', () => {
    for (const { environment } of hook.calls) expect(environment).toEqual(['PATH'])
  })

  it('proves the mail host in its own zone without an address in DNS', async () => {
    expect(await obtained('mx.proofs.host.test')).toMatchObject({ status: 'active' })
    expect(hook.calls.at(-1)?.arguments.slice(0, 2)).toEqual([
      'remove',
      '_acme-challenge.mx.proofs.host.test',
    ])
  })

  it('does not write to the top of the zone for a tenant that points there', async () => {
    const before = hook.calls.length
    const { status, error_message } = await obtained('globex.test')
    expect({ status, error_message }).toEqual({
      status: 'failed',
      error_message: 'neither globex.test nor a mail host below it leads here',
    })
    expect(hook.calls).toHaveLength(before)
  })

  it('reports the message of a hook that fails', async () => {
    writeFileSync(join(folder, 'hook'), '#!/bin/sh\necho "the zone is locked" >&2\nexit 3\n')
    const operatorPath = `${BASE}/certificates/acme.test`
    await operator.post(`${operatorPath}/renew`, { reason: 'a test' })
    const message = await waitFor(
      async () => (await operator.get(operatorPath)).body.data.error_message,
      60_000,
    )
    expect(message).toMatch(/^ACME_DNS_HOOK add \S+ ended with 3: the zone is locked$/)
  })
})

it.each([
  [{ ACME_DNS_HOOK: '/bin/true' }, /needs ACME_DNS_ZONES/],
  [{ ACME_DNS_HOOK: '/nowhere/hook', ACME_DNS_ZONES: 'a.test' }, /cannot be run \(ENOENT\)/],
  [{ ACME_DNS_HOOK: 'hook', ACME_DNS_ZONES: 'a.test' }, /not an absolute path/],
])('stops the start with the settings %j', async (env, message) => {
  const app = await startApp({ env })
  await expect(certManager.start(app.core)).rejects.toThrow(message)
  await app.stop()
})
