import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type Gpg, gpgMissing, startGpg } from '../support/gpg.ts'
import { opensslMissing, startOpenssl } from '../support/openssl.ts'
import { message, openSmtp } from '../support/smtp-client.ts'

const OWN = '/api/v1/mailbox/encryption'
const PASSPHRASE = 'correct horse battery'
const why = gpgMissing ? ` (skipped: ${gpgMissing})` : skipped

describe.skipIf(edgeMissing ?? gpgMissing)(`encrypted delivery${why}`, () => {
  let host: MailHost
  let gpg: Gpg
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let holder: Awaited<ReturnType<MailHost['app']['session']>>
  beforeAll(async () => {
    gpg = startGpg()
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    holder = await host.app.session('mailbox', acme.accountId)
    await gpg.run([
      ...['--passphrase', PASSPHRASE, '--quick-gen-key', `Jane <${acme.email}>`],
      ...['default', 'default', '0'],
    ])
    const { stdout: key } = await gpg.run(['--armor', '--export', acme.email])
    expect((await holder.post(`${OWN}/pgp/import`, { key })).status).toBe(201)
    expect((await holder.put(`${OWN}/delivery`, { enabled: true })).status).toBe(200)
  })
  afterAll(async () => {
    gpg?.stop()
    await host?.stop()
  })

  const opened = async (text: string) => {
    const armour = /-----BEGIN PGP MESSAGE-----[\s\S]*?-----END PGP MESSAGE-----/.exec(text)?.[0]
    return (await gpg.run(['--passphrase', PASSPHRASE, '-d'], armour ?? '')).stdout
  }

  /** The message alone, without the words of IMAP around it. */
  const withoutFetch = (text: string) =>
    text.replace(/^\* \d+ FETCH \(BODY\[\] /, '').replace(/\)$/, '')

  it('arrives as PGP/MIME that gpg opens, and as plain text at the other recipient', async () => {
    const client = await openSmtp({ port: host.ports.smtp })
    const text = message('ada@far.test', acme.email, 'plans', 'meet at nine, Grüße')
    const reply = await client.send({ from: 'ada@far.test', to: [acme.email, globex.email], text })
    client.quit()
    expect(reply.code).toBe(250)
    const arrived = await host.arrived(acme.email, 'plans')
    expect(arrived).toContain('multipart/encrypted')
    expect(arrived).not.toContain('nine')
    expect(await opened(arrived)).toContain('meet at nine, Grüße')
    expect(await host.arrived(globex.email, 'plans')).toContain('meet at nine')
  })

  it('covers mail that another mailbox of this host forwards', async () => {
    const forwarding = await host.app.session('mailbox', globex.accountId)
    const saved = await forwarding.put('/api/v1/mailbox/forwarding', {
      enabled: true,
      addresses: [acme.email],
    })
    expect(saved.status).toBe(200)
    await host.receive(globex.email, 'passed on', 'a secret of nine words')
    const arrived = await host.arrived(acme.email, 'passed on')
    expect(arrived).not.toContain('nine')
    expect(await opened(arrived)).toContain('a secret of nine words')
  })

  it.skipIf(opensslMissing)('arrives as S/MIME that openssl opens, of any size', async () => {
    const openssl = startOpenssl()
    onTestFinished(() => openssl.stop())
    const other = await host.app.session('mailbox', globex.accountId)
    const issued = openssl.issue(globex.email, { key: 'rsa' })
    const { certificate } = issued
    expect((await other.post(`${OWN}/smime/import`, { certificate })).status).toBe(201)
    const setting = { enabled: true, method: 'smime' }
    expect((await other.put(`${OWN}/delivery`, setting)).status).toBe(200)
    const saved = await other.put('/api/v1/mailbox/forwarding', { enabled: false, addresses: [] })
    expect(saved.status, saved.text).toBe(200)
    const { certificate: recipient, key } = issued.files
    for (const [subject, body] of [
      ['sealed', 'meet at nine, Grüße'],
      ['sealed and large', `meet at nine, Grüße\r\n${'a line of text\r\n'.repeat(200_000)}`],
    ] as const) {
      expect((await host.receive(globex.email, subject, body)).code).toBe(250)
      const arrived = withoutFetch(await host.arrived(globex.email, subject))
      expect(arrived).toContain('application/pkcs7-mime')
      expect(arrived).not.toContain('meet at nine')
      const opened = await openssl.run(
        ['cms', '-decrypt', '-recip', recipient, '-inkey', key],
        arrived,
      )
      expect(opened).toContain('meet at nine, Grüße')
      expect(opened.length).toBeGreaterThan(body.length)
      const older = await openssl.run(
        ['smime', '-decrypt', '-recip', recipient, '-inkey', key],
        arrived,
      )
      expect(older).toBe(opened)
    }
    // Mail that arrives encrypted stays as it is.
    const sealed = await openssl.run(['cms', '-encrypt', '-aes256', recipient], 'twice no')
    const text = `From: ada@far.test\r\nTo: ${globex.email}\r\nSubject: once\r\n${sealed}`
    const client = await openSmtp({ port: host.ports.smtp })
    const reply = await client.send({ from: 'ada@far.test', to: [globex.email], text })
    client.quit()
    expect(reply.code).toBe(250)
    const once = withoutFetch(await host.arrived(globex.email, 'once'))
    expect(await openssl.run(['cms', '-decrypt', '-recip', recipient, '-inkey', key], once)).toBe(
      'twice no',
    )
    await other.put(`${OWN}/delivery`, { enabled: false })
  })

  it('is deferred with 451 while there is no key, and arrives encrypted later', async () => {
    const { db } = host.app.core
    const prefer = (preferred: boolean) =>
      db
        .updateTable('pgp_keys')
        .set({ preferred })
        .where('account_id', '=', acme.accountId)
        .execute()
    await prefer(false)
    expect((await host.receive(acme.email, 'waiting', 'at nine')).code).toBe(451)
    await prefer(true)
    expect((await host.receive(acme.email, 'waiting', 'at nine')).code).toBe(250)
    expect(await opened(await host.arrived(acme.email, 'waiting'))).toContain('at nine')
  })
})
