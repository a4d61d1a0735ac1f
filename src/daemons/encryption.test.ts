import { sql } from 'kysely'
import * as openpgp from 'openpgp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, newIp, startApp } from '../../test/support/app.ts'
import { type Gpg, gpgMissing, startGpg } from '../../test/support/gpg.ts'
import { waitFor } from '../../test/support/wait.ts'
import { wkdHash } from '../features/encryption/wkd/wkd-hash.ts'
import { DAY_MS } from '../lib/time.ts'
import { encryption } from './encryption.ts'

const API = '/api/v1/encryption'
const OWN = '/api/v1/mailbox/encryption'
const PASSPHRASE = 'correct horse battery'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let jane: Awaited<ReturnType<App['session']>>
beforeAll(async () => {
  app = await startApp({ daemons: [encryption] })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  jane = await app.session('mailbox', acme.accountId)
})
afterAll(() => app.stop())

/** A key that another program made. */
const foreignKey = async (emails: string[], more: object = {}) =>
  openpgp.generateKey({
    type: 'ecc',
    curve: 'ed25519Legacy',
    userIDs: emails.map((email) => ({ name: 'Somebody', email })),
    passphrase: PASSPHRASE,
    format: 'armored',
    ...more,
  }) as Promise<{ publicKey: string; privateKey: string }>
const lookUp = (host: string, path: string) =>
  app.send('GET', `/.well-known/openpgpkey${path}`, { from: newIp(), headers: { host } })

describe('OpenPGP keys', () => {
  it('are refused when they are no key, another address, several keys or beyond the budgets', async () => {
    const { publicKey } = await foreignKey(['other@acme.test'])
    const two = `${publicKey}\n${(await foreignKey([acme.email])).publicKey}`
    const crowd = await foreignKey(
      Array.from({ length: 101 }, (_, index) => (index === 0 ? acme.email : `n${index}@x.test`)),
    )
    const { privateKey } = await foreignKey([acme.email])
    for (const [key, why] of [
      ['hello', /not OpenPGP in ASCII armour/],
      [publicKey, /no valid user id of admin@acme.test/],
      [two, /more than one key|not OpenPGP|no valid user id/],
      [crowd.publicKey, /more than 100 user ids/],
      [privateKey, /Send a passphrase/],
    ] as const) {
      const { status, body } = await acme.post(`${API}/pgp/import`, { email: acme.email, key })
      expect([status, body.msg]).toEqual([400, expect.stringMatching(why)])
    }
    const wrong = { email: acme.email, key: privateKey, passphrase: 'not the passphrase' }
    expect(await acme.post(`${API}/pgp/import`, wrong)).toMatchObject({
      status: 400,
      body: { error_code: 'WRONG_PASSPHRASE' },
    })
    const large = { email: acme.email, key: 'x'.repeat(1024 * 1024 + 1) }
    expect((await acme.post(`${API}/pgp/import`, large)).status).toBe(422)
    const short = { email: acme.email, passphrase: 'short' }
    expect((await acme.post(`${API}/pgp/generate`, short)).status).toBe(422)
    expect((await acme.get(`${API}/pgp/keys`)).body.data.items).toEqual([])
  })

  it('of a correspondent have no private part here', async () => {
    const { publicKey, privateKey } = await foreignKey(['bob@far.test'])
    const sent = { email: 'bob@far.test', key: privateKey, passphrase: PASSPHRASE }
    expect((await acme.post(`${API}/pgp/import`, sent)).status).toBe(404)
    const stored = await acme.post(`${API}/pgp/import`, { email: 'Bob@far.test', key: publicKey })
    expect(stored).toMatchObject({
      status: 201,
      body: { data: { email: 'bob@far.test', account_id: null, has_private: false } },
    })
    // The refused import with a private key is no event.
    const { fingerprint } = stored.body.data
    const data = { user: 'bob@far.test', key_type: 'pgp', fingerprint, has_private: false }
    const events = await app.core.db
      .selectFrom('events')
      .select(['org_id', 'domain', 'data'])
      .where('event', '=', 'encryption.key.imported')
      .where(sql<string>`data ->> 'user'`, '=', 'bob@far.test')
      .execute()
    expect(events).toEqual([{ org_id: acme.organizationId, domain: 'far.test', data }])
    // The directory publishes mailboxes of this host only.
    expect((await lookUp('far.test', `/hu/${wkdHash('bob')}`)).status).toBe(404)
  })

  it('are not found by another tenant', async () => {
    const { body } = await acme.post(`${API}/pgp/generate`, {
      email: acme.email,
      passphrase: PASSPHRASE,
    })
    const path = `${API}/pgp/keys/${body.data.fingerprint}`
    expect((await acme.get(path)).status).toBe(200)
    expect((await globex.get(path)).status).toBe(404)
    expect((await globex.delete(path)).status).toBe(404)
    expect((await globex.post(`${path}/prefer`, {})).status).toBe(404)
    const theirs = { email: acme.email, passphrase: PASSPHRASE }
    expect((await globex.post(`${API}/pgp/generate`, theirs)).status).toBe(404)
    const asked = { recipient_email: acme.email, message: 'x' }
    expect((await globex.post(`${API}/pgp/encrypt`, asked)).body.error_code).toBe('NO_KEY')
    expect((await acme.delete(path)).body.data.deleted).toBe(1)
  })

  it('are generated and used by their holder, and the passphrase is nowhere in the database', async () => {
    const made = await jane.post(`${OWN}/pgp/generate`, { passphrase: PASSPHRASE, name: 'Jane' })
    expect(made).toMatchObject({
      status: 201,
      body: {
        data: {
          email: acme.email,
          user_id: `Jane <${acme.email}>`,
          has_private: true,
          preferred: true,
        },
      },
    })
    const { encrypted_message } = (
      await acme.post(`${API}/pgp/encrypt`, { recipient_email: acme.email, message: 'Grüße' })
    ).body.data
    const opening = { passphrase: PASSPHRASE, encrypted_message }
    const opened = await jane.post(`${OWN}/pgp/decrypt`, opening)
    expect(opened.body.data.message).toBe('Grüße')
    const wrong = await jane.post(`${OWN}/pgp/decrypt`, { ...opening, passphrase: 'another one' })
    expect(wrong.body.error_code).toBe('WRONG_PASSPHRASE')
    const signing = { passphrase: PASSPHRASE, message: 'I agree' }
    const { signed_message } = (await jane.post(`${OWN}/pgp/sign`, signing)).body.data
    const verify = async (message: string) =>
      (await acme.post(`${API}/pgp/verify`, { message, sender_email: acme.email })).body.data.valid
    expect(await verify(signed_message)).toBe(true)
    expect(await verify(signed_message.replace('I agree', 'I do not agree'))).toBe(false)
    const { rows } = await openRows()
    expect(rows).not.toContain(PASSPHRASE)
    expect(rows).not.toContain('BEGIN PGP PRIVATE KEY')
    const events = await app.core.db
      .selectFrom('events')
      .select('data')
      .where('event', '=', 'encryption.key.generated')
      .where('org_id', '=', acme.organizationId)
      .execute()
    expect(events).toContainEqual({
      data: {
        kind: 'pgp',
        domain: 'acme.test',
        user: acme.email,
        fingerprint: made.body.data.fingerprint,
      },
    })
  })

  it('keep their revocation when an older copy is imported again', async () => {
    const { publicKey, privateKey } = await foreignKey([globex.email])
    const imported = await globex.post(`${API}/pgp/import`, { email: globex.email, key: publicKey })
    expect(imported.body.data.preferred).toBe(true)
    const open = await openpgp.decryptKey({
      privateKey: await openpgp.readPrivateKey({ armoredKey: privateKey }),
      passphrase: PASSPHRASE,
    })
    const revoked = await openpgp.revokeKey({ key: open, format: 'armored' })
    for (const key of [revoked.publicKey, publicKey]) {
      const again = await globex.post(`${API}/pgp/import`, { email: globex.email, key })
      expect(again.body.data).toMatchObject({ revoked: true })
    }
    const asked = { recipient_email: globex.email, message: 'x' }
    expect((await globex.post(`${API}/pgp/encrypt`, asked)).body.error_code).toBe('NO_KEY')
    expect((await lookUp('globex.test', `/hu/${wkdHash('admin')}`)).status).toBe(404)
  })

  it('of RSA are made by a job', async () => {
    const sent = { email: acme.email, passphrase: PASSPHRASE, key_type: 'RSA', key_length: 2048 }
    const { status, body } = await acme.post(`${API}/pgp/generate`, sent)
    expect([status, body.data.status]).toEqual([202, 'running'])
    const path = `${API}/pgp/jobs/${body.data.job_id}`
    expect((await globex.get(path)).status).toBe(404)
    const done = await waitFor(async () => {
      const { data } = (await acme.get(path)).body
      return data.status !== 'running' && data
    })
    expect(done).toMatchObject({ status: 'completed', error: null })
    const key = await acme.get(`${API}/pgp/keys/${done.fingerprint}`)
    expect(key.body.data).toMatchObject({ key_type: 'rsa', key_length: 2048, has_private: true })
    // The holder finds it too, but no holder of another mailbox.
    expect((await jane.get(`${OWN}/pgp/keys/${done.fingerprint}`)).status).toBe(200)
    const other = await app.session('mailbox', globex.accountId)
    expect((await other.get(`${OWN}/pgp/keys/${done.fingerprint}/private`)).status).toBe(404)
  })

  it('are served to other services with the internal token', async () => {
    const query = `organization_id=${acme.organizationId}&email=${acme.email}`
    expect((await app.send('GET', `/pgp/keys?${query}`)).status).toBe(401)
    const headers = { 'x-internal-token': INTERNAL_TOKEN }
    const { status, body } = await app.send('GET', `/pgp/keys?${query}`, { headers })
    expect([status, body[0].email]).toEqual([200, acme.email])
  })
})

const openRows = async () => {
  const keys = await app.core.db.selectFrom('pgp_keys').selectAll().execute()
  const events = await app.core.db.selectFrom('events').selectAll().execute()
  const rows = JSON.stringify([keys, events], (_, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
  )
  return { rows }
}

describe('the Web Key Directory', () => {
  it('has the hash of the draft', () => {
    expect(wkdHash('Joe.Doe')).toBe('iy9q119eutrkn8s1mk4r39qejnbu3n5q')
  })

  it('publishes the preferred key with the user id of the address alone, to everybody', async () => {
    const { publicKey } = await foreignKey([acme.email, 'private@elsewhere.test'])
    const { body } = await acme.post(`${API}/pgp/import`, { email: acme.email, key: publicKey })
    await acme.post(`${API}/pgp/keys/${body.data.fingerprint}/prefer`, {})
    const hash = wkdHash('admin')
    for (const [host, path] of [
      ['acme.test', `/hu/${hash}?l=admin`],
      ['openpgpkey.acme.test', `/acme.test/hu/${hash}?l=admin`],
    ] as const) {
      const answer = await lookUp(host, path)
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          'access-control-allow-origin': '*',
          'content-type': 'application/octet-stream',
        },
      })
      const policy = path.replace(/hu.*/, 'policy')
      expect(await lookUp(host, policy)).toMatchObject({ status: 200, text: '' })
    }
    const row = await app.core.db
      .selectFrom('pgp_keys')
      .select('published_key')
      .where('fingerprint', '=', body.data.fingerprint)
      .executeTakeFirstOrThrow()
    const key = await openpgp.readKey({ binaryKey: new Uint8Array(row.published_key) })
    expect(key.getUserIDs()).toEqual([`Somebody <${acme.email}>`])
  })

  it('knows no mailbox that is not active, no other host name and no other domain', async () => {
    const hash = wkdHash('admin')
    for (const [host, path] of [
      ['acme.test', `/hu/${wkdHash('nobody')}`],
      ['globex.test', `/acme.test/hu/${hash}`],
      ['openpgpkey.globex.test', `/acme.test/hu/${hash}`],
      ['nowhere.test', `/hu/${hash}`],
      ['nowhere.test', '/policy'],
      ['acme.test', '/hu/..%2f'],
    ] as const) {
      const { status } = await lookUp(host, path)
      expect([host, path, [404, 422].includes(status)]).toEqual([host, path, true])
    }
    const set = (status: 'active' | 'suspended') =>
      app.core.db
        .updateTable('email_accounts')
        .set({ status })
        .where('id', '=', acme.accountId)
        .execute()
    await set('suspended')
    expect((await lookUp('acme.test', `/hu/${hash}`)).status).toBe(404)
    await set('active')
    expect((await lookUp('acme.test', `/hu/${hash}`)).status).toBe(200)
  })

  it('does not publish an expired key', async () => {
    const sent = { email: globex.email, passphrase: PASSPHRASE, expire_date: '2d' }
    const { body } = await globex.post(`${API}/pgp/generate`, sent)
    expect(body.data.preferred).toBe(true)
    const look = () => lookUp('globex.test', `/hu/${wkdHash('admin')}`)
    expect((await look()).status).toBe(200)
    app.clock.advance(3 * DAY_MS)
    expect((await look()).status).toBe(404)
    app.clock.advance(-3 * DAY_MS)
  })
})

describe.skipIf(gpgMissing)(`GnuPG${gpgMissing ? ` (skipped: ${gpgMissing})` : ''}`, () => {
  let gpg: Gpg
  beforeAll(() => {
    gpg = startGpg()
  })
  afterAll(() => gpg.stop())

  it('reads what is encrypted and signed here, and the other way round', async () => {
    const made = await jane.post(`${OWN}/pgp/generate`, { passphrase: PASSPHRASE })
    const { fingerprint } = made.body.data
    await jane.post(`${OWN}/pgp/keys/${fingerprint}/prefer`, {})
    const { private_key } = (await jane.get(`${OWN}/pgp/keys/${fingerprint}/private`)).body.data
    await gpg.run(['--passphrase', PASSPHRASE, '--import'], private_key)
    const secret = { recipient_email: acme.email, message: 'für Jane' }
    const { encrypted_message } = (await acme.post(`${API}/pgp/encrypt`, secret)).body.data
    const read = await gpg.run(['--passphrase', PASSPHRASE, '-d'], encrypted_message)
    expect(read.stdout).toBe('für Jane')
    const signing = { passphrase: PASSPHRASE, message: 'I agree' }
    const { signed_message } = (await jane.post(`${OWN}/pgp/sign`, signing)).body.data
    expect((await gpg.run(['--verify'], signed_message)).output).toContain('Good signature')

    const user = 'Bob <bob@gpg.test>'
    await gpg.run(['--passphrase', PASSPHRASE, '--quick-gen-key', user, 'rsa2048', 'default', '0'])
    const { stdout: publicKey } = await gpg.run(['--armor', '--export', 'bob@gpg.test'])
    const stored = await acme.post(`${API}/pgp/import`, { email: 'bob@gpg.test', key: publicKey })
    expect(stored.status).toBe(201)
    const toJane = ['--passphrase', PASSPHRASE, '--armor', '--trust-model', 'always', '-se']
    const { stdout } = await gpg.run([...toJane, '-u', 'bob@gpg.test', '-r', fingerprint], 'hi')
    const opened = await jane.post(`${OWN}/pgp/decrypt`, {
      passphrase: PASSPHRASE,
      encrypted_message: stdout,
      sender_email: 'bob@gpg.test',
    })
    expect(opened.body.data).toMatchObject({ message: 'hi', signatures: [{ valid: true }] })
  })
})
