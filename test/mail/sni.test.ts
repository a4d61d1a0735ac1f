import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCertificate } from '../support/certificates.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type Pebble, pebbleMissing, preparePebble } from '../support/pebble.ts'
import { openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const missing = edgeMissing ?? pebbleMissing
const title = skipped || (pebbleMissing === undefined ? '' : ` (skipped: ${pebbleMissing})`)

describe.skipIf(missing)(`certificates by name on the mail servers${title}`, () => {
  let host: MailHost
  let pebble: Pebble
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  let folder: string
  let operator: Awaited<ReturnType<MailHost['app']['operator']>>
  beforeAll(async () => {
    pebble = await preparePebble()
    dns = await startDnsServer({
      'acme.test': { A: ['127.0.0.1'] },
      'mail.acme.test': { A: ['127.0.0.1'] },
    })
    host = await startMailHost({ env: { ...pebble.env, SVC_DNS_SERVERS: dns.address } })
    await pebble.start(Number(new URL(host.app.base).port), dns.address)
    folder = join(host.app.dataDir, 'certificates')
    await host.app.tenant('acme')
    operator = await host.app.operator('admin')
  })
  afterAll(async () => {
    await host?.stop()
    await dns?.stop()
    await pebble?.stop()
  })

  /** The serial number of the certificate that a client sees. */
  const presented = (port: number, servername?: string) =>
    new Promise<{ subject: string; serial: string }>((resolve, reject) => {
      const socket: TLSSocket = connect({ port, rejectUnauthorized: false, servername }, () => {
        const { subjectaltname = '', serialNumber } = socket.getPeerCertificate()
        socket.destroy()
        resolve({ subject: subjectaltname, serial: serialNumber })
      })
      socket.once('error', reject)
    })
  const afterStartTls = async (port: number, servername?: string) => {
    const smtp = await openSmtp({ port })
    await smtp.startTls(servername)
    const { subjectaltname = '', serialNumber = '' } = smtp.certificate() ?? {}
    smtp.quit()
    return { subject: subjectaltname, serial: serialNumber }
  }
  /** The certificates that a client sees on every port, with TLS from the start and with STARTTLS. */
  const everywhere = async (name?: string) => {
    const { smtp, submission, smtps, imaps, pop3s } = host.ports
    const all = await Promise.all([
      ...[smtps, imaps, pop3s].map((port) => presented(port, name)),
      ...[smtp, submission].map((port) => afterStartTls(port, name)),
    ])
    return [...new Set(all.map(({ subject, serial }) => `${subject} ${serial}`))]
  }
  /** Dovecot resets a connection whose handshake has not ended when it reloads; none is seen then. */
  const seenNow = (name: string) =>
    everywhere(name).catch((error) => {
      if (error.code !== 'ECONNRESET') throw error
      return []
    })
  const shows = (name: string, text: string) =>
    waitFor(async () => {
      const seen = await seenNow(name)
      return seen.length === 1 && seen[0]?.includes(text) && seen[0]
    }, 60_000)
  const renew = (domain: string) =>
    operator.post(`/api/v1/ssl/certificates/${domain}/renew`, { reason: 'a test' })

  it('present their own certificate for an unknown name and without a name', async () => {
    expect(await everywhere('mail.acme.test')).toEqual([expect.stringContaining('mx.edge.test')])
    expect(await everywhere()).toEqual([expect.stringContaining('mx.edge.test')])
  })

  it('present an issued certificate without a restart', async () => {
    const before = host.pids()
    expect((await renew('acme.test')).status).toBe(202)
    await shows('mail.acme.test', 'DNS:acme.test, DNS:mail.acme.test')
    await shows('acme.test', 'DNS:acme.test, DNS:mail.acme.test')
    expect(await everywhere('mx.edge.test')).toEqual([expect.stringContaining('mx.edge.test')])
    expect(host.pids()).toEqual(before)
  })

  it('read keys from files that only root can read', () => {
    const { sni } = host.edge.settings.folders
    expect(readdirSync(sni).sort()).toEqual(['acme.test.pem', 'dovecot.conf', 'names', 'names.db'])
    for (const name of readdirSync(sni)) {
      expect(statSync(join(sni, name)).mode & 0o077, name).toBe(0)
    }
  })

  it('present a renewed certificate while an open session goes on', async () => {
    const [old = ''] = await everywhere('mail.acme.test')
    const session = connect({ port: host.ports.imaps, rejectUnauthorized: false })
    let received = ''
    session.setEncoding('utf8').on('data', (text) => {
      received += text
    })
    await waitFor(() => received.includes('* OK'))
    expect((await renew('acme.test')).status).toBe(202)
    await waitFor(async () => {
      const seen = await seenNow('mail.acme.test')
      return seen.length === 1 && seen[0] !== old
    }, 60_000)
    session.write('a1 NOOP\r\n')
    await waitFor(() => received.includes('a1 OK'))
    session.destroy()
  })

  it('present a certificate with its key that an operator put into the folder', async () => {
    mkdirSync(folder, { recursive: true })
    const wildcard = makeCertificate('*.globex.test')
    writeFileSync(join(folder, 'globex.new'), wildcard.key + wildcard.certificate)
    renameSync(join(folder, 'globex.new'), join(folder, 'globex.test.pem'))
    const withoutKey = makeCertificate('keyless.test')
    writeFileSync(join(folder, 'keyless.test.pem'), withoutKey.certificate)
    await operator.get('/api/v1/ssl/certificates')
    await shows('imap.globex.test', '*.globex.test')
    expect(await everywhere('keyless.test')).toEqual([expect.stringContaining('mx.edge.test')])
  })

  it('present their own certificate again for a domain that is turned off', async () => {
    const { db } = host.app.core
    const set = (active: boolean) =>
      db.updateTable('domains').set({ active }).where('domain', '=', 'acme.test').execute()
    await set(false)
    await shows('mail.acme.test', 'mx.edge.test')
    await set(true)
    await shows('mail.acme.test', 'DNS:acme.test')
  })
})
