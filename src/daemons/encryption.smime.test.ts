import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, PASSWORD, startApp } from '../../test/support/app.ts'
import {
  type Issued,
  type Openssl,
  opensslMissing,
  startOpenssl,
} from '../../test/support/openssl.ts'
import { pem } from '../features/encryption/smime/asn1.ts'
import { DAY_MS } from '../lib/time.ts'
import { encryption } from './encryption.ts'

const API = '/api/v1/encryption/smime'
const OWN = '/api/v1/mailbox/encryption/smime'
const PASSPHRASE = 'correct hörse battery'
const MAIL_PART = 'Content-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n'

const why = opensslMissing ? ` (skipped: ${opensslMissing})` : ''

describe.skipIf(opensslMissing)(`S/MIME${why}`, () => {
  let app: App
  let openssl: Openssl
  let acme: Awaited<ReturnType<App['tenant']>>
  let globex: typeof acme
  let jane: Awaited<ReturnType<App['session']>>
  beforeAll(async () => {
    openssl = startOpenssl()
    app = await startApp({ daemons: [encryption] })
    acme = await app.tenant('acme')
    globex = await app.tenant('globex')
    jane = await app.session('mailbox', acme.accountId)
  })
  afterAll(async () => {
    await app?.stop()
    openssl?.stop()
  })

  /** A certificate of an address of its own, so that each test has one preferred certificate. */
  let mailboxes = 0
  async function newMailbox(key: 'rsa' | 'ec' = 'ec', more: object = {}) {
    const email = `holder${mailboxes++}@acme.test`
    const made = await acme.post('/api/v1/mailboxes/email-accounts', {
      email,
      password: PASSWORD,
    })
    expect(made.status, made.text).toBe(201)
    const issued = openssl.issue(email, { key, ...more })
    const pkcs12 = openssl.pkcs12(issued, PASSPHRASE)
    const stored = await acme.post(`${API}/import`, { email, pkcs12, passphrase: PASSPHRASE })
    expect(stored.status, stored.text).toBe(201)
    const { account_id, fingerprint } = stored.body.data
    const holder = await app.session('mailbox', account_id)
    return { email, issued, holder, fingerprint: fingerprint as string, account_id }
  }

  function trustRoot(text: string): void {
    const folder = join(app.core.config.DATA_DIR, 'smime', 'roots')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'test.pem'), text)
  }

  const verify = async (message: string, sender_email: string, more: object = {}) => {
    const { status, body, text } = await globex.post(`${API}/verify`, {
      message,
      sender_email,
      ...more,
    })
    expect(status, text).toBe(200)
    return body.data
  }

  const refusal = async (sent: object) => {
    const { status, body } = await acme.post(`${API}/import`, { email: acme.email, ...sent })
    return [status, body.msg]
  }

  describe('certificates', () => {
    it('are refused when they are of another address, not for mail, too weak, or expired', async () => {
      const { email } = acme
      const usage = (extensions: string[]) => openssl.issue(email, { extensions }).certificate
      for (const [certificate, why] of [
        ['hello', /no certificate in PEM/],
        [openssl.issue('other@acme.test').certificate, /no certificate of admin@acme.test/],
        [usage(['extendedKeyUsage=serverAuth']), /not for mail/],
        [usage(['keyUsage=critical,keyCertSign,cRLSign']), /not for mail/],
        [usage(['basicConstraints=critical,CA:true']), /not for mail/],
        [openssl.issue(email, { key: 'rsa', bits: 1024 }).certificate, /neither RSA of 2048/],
      ] as const) {
        expect(await refusal({ certificate })).toEqual([400, expect.stringMatching(why)])
      }
      const { certificate } = openssl.issue(email, { days: 1 })
      app.clock.advance(2 * DAY_MS)
      expect(await refusal({ certificate })).toEqual([400, 'The certificate has expired'])
      app.clock.advance(-2 * DAY_MS)
      app.clock.advance(-5 * DAY_MS)
      expect(await refusal({ certificate })).toEqual([400, 'The certificate is not valid yet'])
      app.clock.advance(5 * DAY_MS)
      expect((await acme.get(`${API}/certs`)).body.data.items).toEqual([])
    })

    it('are refused when their DER is broken, nested too deeply, or too large', async () => {
      const { certificate } = openssl.issue(acme.email)
      const bytes = Buffer.from(certificate.replace(/-----[^-]+-----|\s/g, ''), 'base64')
      const cut = bytes.subarray(0, bytes.length - 20)
      let deep = Buffer.of(5, 0)
      for (let level = 0; level < 5000; level++) {
        const { length } = deep
        deep = Buffer.concat([Buffer.of(0x30, 0x84, 0, 0, length >> 8, length & 255), deep])
        if (deep.length > 60_000) break
      }
      for (const one of [cut, deep, Buffer.alloc(64, 0x30), Buffer.alloc(0)]) {
        const sent = { certificate: pem('CERTIFICATE', one) }
        expect((await refusal(sent))[0]).toBe(400)
        const file = { pkcs12: one.toString('base64') || 'AA==', passphrase: PASSPHRASE }
        expect((await refusal(file))[0]).toBe(400)
        const message = pem('CMS', one)
        const opening = { message, sender_email: acme.email }
        expect((await acme.post(`${API}/verify`, opening)).status).toBe(400)
      }
      const many = certificate.repeat(11)
      expect(await refusal({ certificate: many })).toEqual([
        400,
        expect.stringMatching(/more than 10/),
      ])
      expect((await refusal({ certificate: 'x'.repeat(256 * 1024 + 1) }))[0]).toBe(422)
      expect(await refusal({})).toEqual([400, 'Send a certificate or a PKCS #12 file'])
    })

    it('with a private key need its passphrase, and a key that belongs to them', async () => {
      const issued = openssl.issue(acme.email)
      const pkcs12 = openssl.pkcs12(issued, PASSPHRASE)
      for (const passphrase of ['not the passphrase', undefined]) {
        const sent = { email: acme.email, pkcs12, passphrase }
        const { status, body } = await acme.post(`${API}/import`, sent)
        expect([status, body.error_code]).toEqual([400, 'WRONG_PASSPHRASE'])
      }
      const { privateKey } = openssl.issue(acme.email)
      const mixed = { certificate: issued.certificate + privateKey, passphrase: PASSPHRASE }
      expect(await refusal(mixed)).toEqual([
        400,
        expect.stringMatching(/belongs to the private key/),
      ])
      const open = { certificate: issued.certificate + issued.privateKey }
      expect(await refusal(open)).toEqual([400, 'Send a passphrase with a private key'])
      const short = { pkcs12: openssl.pkcs12(issued, 'short'), passphrase: 'short' }
      expect(await refusal(short)).toEqual([400, expect.stringMatching(/new_passphrase/)])
      const slow = openssl.pkcs12(issued, PASSPHRASE, ['-iter', '2000001', '-nomaciter'])
      expect(await refusal({ pkcs12: slow, passphrase: PASSPHRASE })).toEqual([
        400,
        expect.stringMatching(/not accepted/),
      ])
      const replaced = { ...short, email: acme.email, new_passphrase: PASSPHRASE }
      const stored = await acme.post(`${API}/import`, replaced)
      expect([stored.status, stored.body.data.has_private]).toEqual([201, true])
      await acme.delete(`${API}/certs/${stored.body.data.fingerprint}`)
    })

    it('with a key in PEM are read open and locked', async () => {
      const issued = openssl.issue(acme.email, { key: 'rsa' })
      const locked = await openssl.run([
        ...['pkcs8', '-topk8', '-in', issued.files.key, '-passout', `pass:${PASSPHRASE}`],
      ])
      const old = await openssl.run([
        ...['rsa', '-traditional', '-aes256', '-in', issued.files.key],
        ...['-passout', `pass:${PASSPHRASE}`],
      ])
      for (const key of [issued.privateKey, locked, old]) {
        const certificate = issued.certificate + key
        const sent = { email: acme.email, certificate, passphrase: PASSPHRASE }
        const { status, body, text } = await acme.post(`${API}/import`, sent)
        expect([status, body.data?.has_private], text).toEqual([201, true])
      }
      const wrong = { certificate: issued.certificate + locked, passphrase: 'another passphrase' }
      expect(
        (await acme.post(`${API}/import`, { email: acme.email, ...wrong })).body.error_code,
      ).toBe('WRONG_PASSPHRASE')
      const { items } = (await acme.get(`${API}/certs?email=${acme.email}`)).body.data
      expect(items).toHaveLength(1)
      await acme.delete(`${API}/certs/${items[0].fingerprint}`)
    })

    it('of a correspondent have no private key here', async () => {
      const email = 'bob@far.test'
      const issued = openssl.issue(email)
      const pkcs12 = openssl.pkcs12(issued, PASSPHRASE)
      const file = { email, pkcs12, passphrase: PASSPHRASE }
      expect((await acme.post(`${API}/import`, file)).status).toBe(404)
      const sent = { email: 'Bob@far.test', certificate: issued.certificate }
      const stored = await acme.post(`${API}/import`, sent)
      expect(stored).toMatchObject({
        status: 201,
        body: { data: { email, account_id: null, has_private: false, preferred: true } },
      })
      const secret = { recipient_email: email, message: MAIL_PART }
      expect((await acme.post(`${API}/encrypt`, secret)).status).toBe(200)
    })

    it('are not found by another tenant or another holder', async () => {
      const { email, fingerprint, holder } = await newMailbox()
      const path = `${API}/certs/${fingerprint}`
      expect((await acme.get(path)).status).toBe(200)
      expect((await holder.get(`${OWN}/certs/${fingerprint}`)).status).toBe(200)
      expect((await globex.get(path)).status).toBe(404)
      expect((await globex.delete(path)).status).toBe(404)
      expect((await globex.post(`${path}/prefer`, {})).status).toBe(404)
      expect((await jane.get(`${OWN}/certs/${fingerprint}`)).status).toBe(404)
      expect((await jane.get(`${OWN}/certs/${fingerprint}/private`)).status).toBe(404)
      expect((await jane.delete(`${OWN}/certs/${fingerprint}`)).status).toBe(404)
      const asked = { recipient_email: email, message: 'x' }
      expect((await globex.post(`${API}/encrypt`, asked)).body.error_code).toBe('NO_KEY')
      const opening = { email, passphrase: PASSPHRASE, message: 'x' }
      expect((await globex.post(`${API}/sign`, opening)).body.error_code).toBe('NO_KEY')
    })

    it('have one preferred among them, which encrypts', async () => {
      const { email, fingerprint, holder } = await newMailbox()
      const second = openssl.issue(email)
      const stored = await holder.post(`${OWN}/import`, { certificate: second.certificate })
      expect(stored.body.data).toMatchObject({ preferred: false, has_private: false })
      const other = stored.body.data.fingerprint
      expect((await holder.post(`${OWN}/certs/${other}/prefer`, {})).body.data.preferred).toBe(true)
      const secret = { recipient_email: email, message: MAIL_PART }
      const { encrypted_message } = (await acme.post(`${API}/encrypt`, secret)).body.data
      const opened = await openssl.run(
        ['cms', '-decrypt', '-recip', second.files.certificate, '-inkey', second.files.key],
        encrypted_message,
      )
      expect(opened).toBe(MAIL_PART)
      expect((await holder.delete(`${OWN}/certs/${other}`)).body.data.deleted).toBe(1)
      const { items } = (await holder.get(`${OWN}/certs`)).body.data
      expect(items).toMatchObject([{ fingerprint, preferred: true }])
    })

    it('leave no passphrase and no open key in the database, and are announced', async () => {
      const { email, fingerprint, issued, holder } = await newMailbox()
      const { db } = app.core
      const rows = JSON.stringify(
        [
          await db.selectFrom('smime_certificates').selectAll().execute(),
          await db.selectFrom('events').selectAll().execute(),
        ],
        (_, value) =>
          value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      )
      expect(rows).not.toContain(PASSPHRASE)
      expect(rows).not.toContain('PRIVATE KEY')
      const { data } = await db
        .selectFrom('events')
        .select('data')
        .where('event', '=', 'encryption.key.imported')
        .where('org_id', '=', acme.organizationId)
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow()
      expect(data).toEqual({ user: email, key_type: 'smime', fingerprint, has_private: true })
      // The holder takes it along, locked.
      const own = (await holder.get(`${OWN}/certs/${fingerprint}/private`)).body.data
      const open = await openssl.run(
        ['pkey', '-passin', `pass:${PASSPHRASE}`, '-pubout'],
        own.private_key,
      )
      const expected = await openssl.run(['x509', '-pubkey', '-noout'], issued.certificate)
      expect(open).toBe(expected)
    })

    it('are served to other services with the internal token', async () => {
      const { email } = await newMailbox()
      const query = `organization_id=${acme.organizationId}&email=${email}`
      expect((await app.send('GET', `/smime/certs?${query}`)).status).toBe(401)
      const headers = { 'x-internal-token': INTERNAL_TOKEN }
      const { status, body } = await app.send('GET', `/smime/certs?${query}`, { headers })
      expect([status, body[0].email]).toEqual([200, email])
    })
  })

  describe.each(['rsa', 'ec'] as const)('openssl with a certificate of %s', (key) => {
    let own: Awaited<ReturnType<typeof newMailbox>>
    beforeAll(async () => {
      own = await newMailbox(key)
      trustRoot(openssl.root)
    })

    const decrypt = async (encrypted_message: string, more: object = {}) =>
      own.holder.post(`${OWN}/decrypt`, { passphrase: PASSPHRASE, encrypted_message, ...more })

    it.each(['aes-256-cbc', 'aes-256-gcm'])('reads %s, and is read', async (cipher) => {
      const { email, issued } = own
      const secret = { recipients: [email], message: MAIL_PART, cipher }
      const { encrypted_message } = (await acme.post(`${API}/encrypt`, secret)).body.data
      const opening = ['cms', '-decrypt', '-recip', issued.files.certificate]
      const opened = await openssl.run([...opening, '-inkey', issued.files.key], encrypted_message)
      expect(opened).toBe(MAIL_PART)
      expect((await decrypt(encrypted_message)).body.data).toEqual({
        message: MAIL_PART,
        signatures: [],
      })
      for (const option of [[], ['-keyid'], ['-outform', 'PEM']]) {
        const to = [...option, '-recip', issued.files.certificate]
        const theirs = await openssl.run(['cms', '-encrypt', `-${cipher}`, ...to], MAIL_PART)
        expect((await decrypt(theirs)).body.data?.message).toBe(MAIL_PART)
      }
      const changed = encrypted_message.replace(/.{4}(?=\r\n$)/, 'AAAA')
      if (cipher === 'aes-256-gcm') expect((await decrypt(changed)).status).toBe(400)
    })

    it('signs for others and for this host', async () => {
      const { email, issued, holder } = own
      const signing = { passphrase: PASSPHRASE, message: MAIL_PART }
      const { signed_message } = (await holder.post(`${OWN}/sign`, signing)).body.data
      expect(signed_message).toContain('multipart/signed')
      const checking = ['cms', '-verify', '-CAfile', openssl.rootFile]
      expect(await openssl.run(checking, signed_message)).toBe(MAIL_PART)
      expect(await verify(signed_message, email)).toMatchObject({
        valid: true,
        message: MAIL_PART,
        signatures: [{ signer: email, trusted_by: 'root', problem: null }],
      })
      const alone = await holder.post(`${OWN}/sign`, { ...signing, detached: true })
      const signature = alone.body.data.signed_message
      expect((await verify(MAIL_PART, email, { signature })).valid).toBe(true)
      expect((await verify(`${MAIL_PART}x`, email, { signature })).valid).toBe(false)

      const by = ['-signer', issued.files.certificate, '-inkey', issued.files.key]
      for (const option of [[], ['-nodetach'], ['-keyid'], ['-md', 'sha512']]) {
        const theirs = await openssl.run(['cms', '-sign', ...by, ...option], MAIL_PART)
        const found = await verify(theirs, email)
        expect([option, found.valid, found.message]).toEqual([option, true, MAIL_PART])
      }
      const weak = await openssl.run(['cms', '-sign', ...by, '-md', 'sha1'], MAIL_PART)
      expect((await verify(weak, email)).signatures[0].problem).toMatch(/digest/)
      const changed = signed_message.replace('Grüße', 'Anderes')
      expect(await verify(changed, email)).toMatchObject({
        valid: false,
        signatures: [{ problem: 'The signature does not belong to the message' }],
      })
    })

    it('signs and encrypts at once', async () => {
      const { issued } = own
      const bob = openssl.issue('bob@far.test')
      const by = ['-signer', bob.files.certificate, '-inkey', bob.files.key]
      const signed = await openssl.run(['cms', '-sign', ...by], MAIL_PART)
      const to = ['-aes256', '-recip', issued.files.certificate]
      const both = await openssl.run(['cms', '-encrypt', ...to], signed)
      const named = await decrypt(both, { sender_email: 'bob@far.test' })
      expect(named.body.data).toMatchObject({ message: MAIL_PART, signatures: [{ valid: true }] })
      expect((await decrypt(both)).body.data.signatures).toMatchObject([{ valid: false }])
    })
  })

  describe('a private key', () => {
    it('does not open with a wrong passphrase, or mail for another recipient', async () => {
      const { email, holder } = await newMailbox()
      const other = openssl.issue('other@far.test')
      const to = ['-aes256', '-recip', other.files.certificate]
      const foreign = await openssl.run(['cms', '-encrypt', ...to], MAIL_PART)
      const opening = { passphrase: PASSPHRASE, encrypted_message: foreign }
      expect(await holder.post(`${OWN}/decrypt`, opening)).toMatchObject({
        status: 400,
        body: { msg: 'The message is not encrypted to a certificate of the address' },
      })
      const secret = { recipient_email: email, message: MAIL_PART }
      const { encrypted_message } = (await acme.post(`${API}/encrypt`, secret)).body.data
      const wrong = { passphrase: 'another one', encrypted_message }
      expect((await holder.post(`${OWN}/decrypt`, wrong)).body.error_code).toBe('WRONG_PASSPHRASE')
      const signing = { passphrase: 'another one', message: 'x' }
      expect((await holder.post(`${OWN}/sign`, signing)).body.error_code).toBe('WRONG_PASSPHRASE')
      const plain = { passphrase: PASSPHRASE, encrypted_message: MAIL_PART }
      expect((await holder.post(`${OWN}/decrypt`, plain)).status).toBe(400)
    })

    it('of an expired certificate opens old mail, but signs and receives none', async () => {
      const { email, account_id, fingerprint } = await newMailbox('ec', { days: 2 })
      const secret = { recipient_email: email, message: MAIL_PART }
      const { encrypted_message } = (await acme.post(`${API}/encrypt`, secret)).body.data
      app.clock.advance(3 * DAY_MS)
      const later = await app.session('mailbox', account_id)
      const opening = { passphrase: PASSPHRASE, encrypted_message }
      const opened = await later.post(`${OWN}/decrypt`, opening)
      const signing = await later.post(`${OWN}/sign`, { passphrase: PASSPHRASE, message: 'x' })
      const again = await acme.post(`${API}/encrypt`, secret)
      const preferred = await acme.post(`${API}/certs/${fingerprint}/prefer`, {})
      app.clock.advance(-3 * DAY_MS)
      expect(opened.body.data.message).toBe(MAIL_PART)
      expect(signing.body.error_code).toBe('NO_KEY')
      expect(again.body.error_code).toBe('NO_KEY')
      expect(preferred.body.error_code).toBe('KEY_UNUSABLE')
    })
  })

  describe('a chain', () => {
    const CA = ['basicConstraints=critical,CA:true', 'keyUsage=critical,keyCertSign']
    const sender = 'bob@far.test'
    const signedBy = ({ files }: Issued, more: string[] = []) =>
      openssl.run(
        ['cms', '-sign', '-signer', files.certificate, '-inkey', files.key, ...more],
        MAIL_PART,
      )
    const problemOf = async (message: string, email = sender) =>
      (await verify(message, email)).signatures[0].problem

    it('leads over certificates of the message to a root of the operator', async () => {
      trustRoot(openssl.root)
      const between = openssl.issue('ca@far.test', { extensions: CA })
      const bob = openssl.issue(sender, { by: between })
      const given = ['-certfile', between.files.certificate]
      expect(await problemOf(await signedBy(bob, given))).toBeNull()
      expect(await problemOf(await signedBy(bob))).toMatch(/vouches for the signer/)
      trustRoot('')
      expect(await problemOf(await signedBy(bob, given))).toMatch(/vouches for the signer/)
      trustRoot(openssl.root)
    })

    it('does not lead over a certificate that may not sign others', async () => {
      const person = openssl.issue('mallory@far.test')
      const forged = openssl.issue(sender, { by: person })
      const given = ['-certfile', person.files.certificate]
      expect(await problemOf(await signedBy(forged, given))).toMatch(/vouches for the signer/)
      const short = openssl.issue('ca@far.test', {
        extensions: [
          'basicConstraints=critical,CA:true,pathlen:0',
          'keyUsage=critical,keyCertSign',
        ],
      })
      const deeper = openssl.issue('ca2@far.test', { extensions: CA, by: short })
      const bob = openssl.issue(sender, { by: deeper })
      const both = ['-certfile', short.files.certificate, '-certfile', deeper.files.certificate]
      expect(await problemOf(await signedBy(bob, both))).toMatch(/vouches for the signer/)
    })

    it('counts for the address of the sender, for signing and within its time alone', async () => {
      const bob = openssl.issue(sender, { days: 1 })
      const signed = await signedBy(bob)
      expect(await problemOf(signed)).toBeNull()
      expect(await problemOf(signed, 'eve@far.test')).toBe('The certificate is not of eve@far.test')
      app.clock.advance(2 * DAY_MS)
      const late = await problemOf(signed)
      app.clock.advance(-2 * DAY_MS)
      expect(late).toMatch(/expired/)
      const encrypting = openssl.issue(sender, {
        extensions: ['keyUsage=critical,keyAgreement', 'extendedKeyUsage=emailProtection'],
      })
      // OpenSSL itself refuses to verify it.
      expect(await problemOf(await signedBy(encrypting))).toBe(
        'The certificate is not for signing mail',
      )
    })

    it('is not needed for a certificate that the organization has stored', async () => {
      trustRoot('')
      const own = await newMailbox()
      const signing = { passphrase: PASSPHRASE, message: MAIL_PART }
      const { signed_message } = (await own.holder.post(`${OWN}/sign`, signing)).body.data
      const asked = { message: signed_message, sender_email: own.email }
      expect((await acme.post(`${API}/verify`, asked)).body.data).toMatchObject({
        valid: true,
        signatures: [{ trusted_by: 'stored' }],
      })
      expect((await verify(signed_message, own.email)).valid).toBe(false)
      trustRoot(openssl.root)
    })
  })
})
