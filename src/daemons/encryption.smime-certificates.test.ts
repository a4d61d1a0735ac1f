import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN } from '../../test/support/app.ts'
import { type Openssl, opensslMissing } from '../../test/support/openssl.ts'
import {
  API,
  MAIL_PART,
  OWN,
  PASSPHRASE,
  type SmimeHost,
  startSmimeHost,
} from '../../test/support/smime.ts'
import { pem } from '../features/encryption/smime/asn1.ts'
import { DAY_MS } from '../lib/time.ts'

const why = opensslMissing ? ` (skipped: ${opensslMissing})` : ''

describe.skipIf(opensslMissing)(`S/MIME${why}`, () => {
  let host: SmimeHost
  let app: App
  let openssl: Openssl
  let acme: SmimeHost['acme']
  let globex: SmimeHost['globex']
  let newMailbox: SmimeHost['newMailbox']
  let jane: Awaited<ReturnType<App['session']>>
  beforeAll(async () => {
    host = await startSmimeHost()
    ;({ app, openssl, acme, globex, newMailbox } = host)
    jane = await app.session('mailbox', acme.accountId)
  })
  afterAll(() => host?.stop())

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
})
