import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../test/support/app.ts'
import { type Issued, type Openssl, opensslMissing } from '../../test/support/openssl.ts'
import {
  API,
  type CertificateHolder,
  MAIL_PART,
  OWN,
  PASSPHRASE,
  type SmimeHost,
  startSmimeHost,
} from '../../test/support/smime.ts'
import { DAY_MS } from '../lib/time.ts'

const why = opensslMissing ? ` (skipped: ${opensslMissing})` : ''

describe.skipIf(opensslMissing)(`S/MIME${why}`, () => {
  let host: SmimeHost
  let app: App
  let openssl: Openssl
  let acme: SmimeHost['acme']
  let newMailbox: SmimeHost['newMailbox']
  let trustRoot: SmimeHost['trustRoot']
  beforeAll(async () => {
    host = await startSmimeHost()
    ;({ app, openssl, acme, newMailbox, trustRoot } = host)
  })
  afterAll(() => host?.stop())

  /** The answer to another tenant, which has stored none of the certificates. */
  const verify = async (message: string, sender_email: string, more: object = {}) => {
    const asked = { message, sender_email, ...more }
    const { status, body, text } = await host.globex.post(`${API}/verify`, asked)
    expect(status, text).toBe(200)
    return body.data
  }

  describe.each(['rsa', 'ec'] as const)('openssl with a certificate of %s', (key) => {
    let own: CertificateHolder
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
