import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type App, PASSWORD, startApp } from '../../test/support/app.ts'
import { opensslMissing, startOpenssl } from '../../test/support/openssl.ts'
import { startReinjectSink } from '../../test/support/reinject-sink.ts'
import { type Mail, TryLater } from '../content/stage.ts'
import { encryptDelivery } from '../features/encryption/delivery/encrypt-delivery.ts'
import { quarantineService } from '../features/message-trace/quarantine.service.ts'
import { DAY_MS } from '../lib/time.ts'
import { MimeMessage } from '../mime/message.ts'
import { encryption } from './encryption.ts'

const API = '/api/v1/encryption'
const OWN = '/api/v1/mailbox/encryption'
const PASSPHRASE = 'correct horse battery'
const LETTER = [
  'From: ada@far.test',
  'To: admin@acme.test',
  'Subject: plans',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'meet at nine',
  '',
].join('\r\n')

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let jane: Awaited<ReturnType<App['session']>>
let bob: string
let behind: Awaited<ReturnType<typeof startReinjectSink>>
beforeAll(async () => {
  behind = await startReinjectSink()
  const port = String(behind.port)
  app = await startApp({
    daemons: [encryption],
    env: {
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: port,
      MAIL_FILTERED_PORT: port,
    },
  })
  acme = await app.tenant('acme')
  jane = await app.session('mailbox', acme.accountId)
  bob = `bob@${acme.domain}`
  await acme.post('/api/v1/mailboxes/email-accounts', { email: bob, password: PASSWORD })
})
afterAll(async () => {
  await app.stop()
  await behind.stop()
})

const passing = (recipients: string[], raw = LETTER): Mail => ({
  direction: 'inbound',
  organizationId: acme.organizationId,
  sender: 'ada@far.test',
  recipients,
  login: undefined,
  clientIp: undefined,
  message: new MimeMessage(Buffer.from(raw)),
})
const delivered = async (recipients: string[], raw?: string) =>
  (await encryptDelivery(app.core)(passing(recipients, raw))).map((mail) => ({
    recipients: mail.recipients,
    text: mail.message.raw.toString(),
  }))

it('needs a usable key of the own mailbox', async () => {
  const other = await app.session('mailbox', (await app.tenant('keyless')).accountId)
  expect((await other.get(`${OWN}/delivery`)).body.data).toEqual({
    enabled: false,
    method: 'pgp',
    fingerprint: null,
    updated_at: null,
  })
  expect(await other.put(`${OWN}/delivery`, { enabled: true })).toMatchObject({
    status: 409,
    body: { error_code: 'NO_USABLE_KEY' },
  })
  expect(await delivered([acme.email, bob])).toEqual([
    { recipients: [acme.email, bob], text: LETTER },
  ])
})

it('changes the copy of the mailbox that asks for it alone, directly and behind an alias', async () => {
  await jane.post(`${OWN}/pgp/generate`, { passphrase: PASSPHRASE })
  const { body } = await jane.put(`${OWN}/delivery`, { enabled: true })
  expect(body.data).toMatchObject({ enabled: true, fingerprint: expect.any(String) })
  const team = `team@${acme.domain}`
  await acme.post('/api/v1/aliases/add', { source: team, destination: `${acme.email},${bob}` })
  for (const recipients of [['Admin+news@acme.test', bob], [team], [team, acme.email]]) {
    const [plain, encrypted, ...more] = await delivered(recipients)
    expect(more).toEqual([])
    expect(plain).toEqual({ recipients: [bob], text: LETTER })
    expect(encrypted?.recipients).toHaveLength(1)
    expect(encrypted?.recipients[0]).toMatch(/^admin(\+news)?@acme.test$/i)
    expect(encrypted?.text).toMatch(/^From: ada@far.test\r\nTo: .*\r\nSubject: plans\r\n/)
    expect(encrypted?.text).toContain('multipart/encrypted; protocol="application/pgp-encrypted"')
    expect(encrypted?.text).not.toContain('nine')
    expect(encrypted?.text).not.toMatch(/[^\r]\n/)
  }
})

it('leaves mail that is encrypted already as it is', async () => {
  const [done] = await delivered([acme.email])
  const inline = `Subject: x\r\n\r\n-----BEGIN PGP MESSAGE-----\r\n\r\nabc\r\n-----END PGP MESSAGE-----\r\n`
  const smime = `Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nMIAG`
  for (const raw of [done?.text ?? '', inline, smime]) {
    expect(await delivered([acme.email], raw)).toEqual([{ recipients: [acme.email], text: raw }])
  }
  const tail = `${inline}and in plain text`
  expect((await delivered([acme.email], tail))[0]?.text).not.toContain('plain text')
})

it('encrypts mail that is released from quarantine', async () => {
  const id = await app.core.db.transaction().execute((tx) =>
    quarantineService(app.core).hold(tx, {
      organization_id: acme.organizationId,
      message_id: '<held@far.test>',
      queue_id: null,
      sender: 'ada@far.test',
      recipient: acme.email,
      subject: 'plans',
      reason: 'spam',
      headers: {},
      content: Buffer.from(LETTER),
    }),
  )
  const admin = await app.operator('admin')
  const because = { reason: 'asked for by the recipient' }
  const released = await admin.post(`/api/v1/message-trace/quarantine/${id}/release`, because)
  expect(released.status, released.text).toBe(200)
  expect(behind.received).toHaveLength(1)
  const { content = '' } = behind.received[0] ?? {}
  expect(content).toContain('multipart/encrypted')
  expect(content).not.toContain('nine')
})

it('keeps its key, and goes on with one that expires', async () => {
  const { fingerprint } = (await jane.get(`${OWN}/delivery`)).body.data
  for (const client of [jane, acme]) {
    const base = client === jane ? OWN : API
    const refused = await client.delete(`${base}/pgp/keys/${fingerprint}`)
    expect([refused.status, refused.body.error_code]).toEqual([409, 'KEY_IN_USE'])
  }
  const short = { passphrase: PASSPHRASE, expire_date: '1d' }
  const made = await jane.post(`${OWN}/pgp/generate`, short)
  await jane.post(`${OWN}/pgp/keys/${made.body.data.fingerprint}/prefer`, {})
  app.clock.advance(2 * DAY_MS)
  expect((await delivered([acme.email]))[0]?.text).not.toContain('nine')
  app.clock.advance(-2 * DAY_MS)
})

it('defers mail that cannot be encrypted, and never delivers it as plain text', async () => {
  const damage = (public_key: string) =>
    app.core.db
      .updateTable('pgp_keys')
      .set({ public_key })
      .where('account_id', '=', acme.accountId)
      .where('preferred', '=', true)
      .execute()
  const { fingerprint } = (await jane.get(`${OWN}/delivery`)).body.data
  const { public_key } = (await jane.get(`${OWN}/pgp/keys/${fingerprint}`)).body.data
  await damage('no key')
  await expect(encryptDelivery(app.core)(passing([bob, acme.email]))).rejects.toThrow(TryLater)
  await damage(public_key)
  await jane.put(`${OWN}/delivery`, { enabled: false })
  expect(await delivered([acme.email])).toEqual([{ recipients: [acme.email], text: LETTER }])
})

it.skipIf(opensslMissing)('encrypts to the certificate of the holder with S/MIME', async () => {
  const openssl = startOpenssl()
  onTestFinished(() => openssl.stop())
  const smime = { enabled: true, method: 'smime' }
  expect((await jane.put(`${OWN}/delivery`, smime)).body.error_code).toBe('NO_USABLE_KEY')
  const issued = openssl.issue(acme.email, { key: 'rsa', days: 3 })
  const { certificate } = issued
  const stored = await jane.post(`${OWN}/smime/import`, { certificate })
  const { fingerprint } = stored.body.data
  expect((await jane.put(`${OWN}/delivery`, smime)).body.data).toMatchObject({
    ...smime,
    fingerprint,
  })
  // The method stays when it is not sent.
  expect((await jane.put(`${OWN}/delivery`, { enabled: true })).body.data.method).toBe('smime')

  const opened = (text: string) =>
    openssl.run(
      ['cms', '-decrypt', '-recip', issued.files.certificate, '-inkey', issued.files.key],
      text,
    )
  const [plain, encrypted, ...more] = await delivered([acme.email, bob])
  expect(more).toEqual([])
  expect(plain).toEqual({ recipients: [bob], text: LETTER })
  const { text = '' } = encrypted ?? {}
  expect(text).toMatch(/^From: ada@far.test\r\nTo: .*\r\nSubject: plans\r\nMIME-Version: 1.0\r\n/)
  expect(text).toContain('application/pkcs7-mime; smime-type=enveloped-data')
  expect(text).not.toContain('nine')
  expect(text).not.toMatch(/[^\r]\n/)
  expect(await opened(text)).toBe(LETTER.slice(LETTER.indexOf('Content-Type')))
  expect(await delivered([acme.email], text)).toEqual([{ recipients: [acme.email], text }])
  const pgp = 'Content-Type: multipart/encrypted; boundary=x\r\n\r\n--x--\r\n'
  expect((await delivered([acme.email], pgp))[0]?.text).toBe(pgp)

  // The certificate in use stays; the key of the other method may go.
  for (const [client, base] of [
    [jane, OWN],
    [acme, API],
  ] as const) {
    const refused = await client.delete(`${base}/smime/certs/${fingerprint}`)
    expect([refused.status, refused.body.error_code]).toEqual([409, 'KEY_IN_USE'])
  }
  const { items } = (await jane.get(`${OWN}/pgp/keys`)).body.data
  expect((await jane.delete(`${OWN}/pgp/keys/${items[0].fingerprint}`)).status).toBe(200)
  app.clock.advance(4 * DAY_MS)
  const [late] = await delivered([acme.email])
  app.clock.advance(-4 * DAY_MS)
  expect(await opened(late?.text ?? '')).toContain('meet at nine')

  const damage = (preferred: boolean) =>
    app.core.db.updateTable('smime_certificates').set({ preferred }).execute()
  await damage(false)
  await expect(encryptDelivery(app.core)(passing([acme.email]))).rejects.toThrow(TryLater)
  await damage(true)
  await jane.put(`${OWN}/delivery`, { enabled: false })
  expect((await jane.delete(`${OWN}/smime/certs/${fingerprint}`)).status).toBe(200)
})
