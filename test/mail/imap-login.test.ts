import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { passwordHashing } from '../../src/lib/password-hashing.ts'
import { type App, newIp, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing, startDovecot } from '../support/dovecot.ts'

const missing = dovecotMissing()

const login = (app: App, email_address: string, password: string) =>
  app.send('POST', '/api/v1/mailbox-auth/login', {
    body: { email_address, password },
    from: newIp(),
  })
const start = (port: number, IMAP_TLS: string) =>
  startApp({ env: { IMAP_HOST: '127.0.0.1', IMAP_PORT: String(port), IMAP_TLS } })

// Dovecot accepts none of these characters in a password, whatever is stored.
const CONTROL = 'one\r\ntwo\t'
const HASHED = 'a-hashed-passphrase-1'
const passwords = {
  plain: 'right',
  quotes: 'say "friend"',
  backslashes: 'a\\b\\\\"c\\',
  braces: '{5} {3+} a LOGOUT',
  colons: 'a:b:c',
  unicode: 'pässwörd-密码-🔑',
  blanks: '  padded ',
  'many-characters': 'Ab1%'.repeat(175),
}

const hashing = passwordHashing('lowest')

/**
 * The mailboxes of tenants with these passwords. Hexadecimal, because the file cannot contain
 * colons.
 */
const users = async () => ({
  ...Object.fromEntries(
    Object.entries(passwords).map(([name, password]) => [
      `admin@${name}.test`,
      `{PLAIN.HEX}${Buffer.from(password).toString('hex')}`,
    ]),
  ),
  'admin@control.test': `{ARGON2ID}${await hashing.hash(CONTROL)}`,
  'admin@hashed.test': `{ARGON2ID}${await hashing.hash(HASHED)}`,
})

describe.skipIf(missing)(`a mailbox login against Dovecot${missing ? `: ${missing}` : ''}`, () => {
  let dovecot: Dovecot
  beforeAll(async () => {
    dovecot = await startDovecot(await users())
  })
  afterAll(() => dovecot.remove())

  describe.each([
    ['true', 'imaps'],
    ['starttls', 'imap'],
    ['false', 'imap'],
  ] as const)('with IMAP_TLS=%s', (mode, listener) => {
    let app: App
    beforeAll(async () => {
      app = await start(dovecot.ports[listener], mode)
    })
    afterAll(() => app.stop())

    it('refuses an unknown e-mail address', async () => {
      const { email } = await app.tenant('unknown')
      expect(await login(app, email, 'right')).toMatchObject({
        status: 401,
        body: { msg: 'Invalid email or password' },
      })
    })

    it.each(Object.entries(passwords))(
      'refuses a wrong password and accepts the right one: %s',
      async (name, password) => {
        const { email } = await app.tenant(name)
        expect(await login(app, email, `${password}x`)).toMatchObject({
          status: 401,
          body: { msg: 'Invalid email or password' },
        })
        expect(await login(app, email, password)).toMatchObject({
          status: 200,
          body: { msg: 'Signed in', data: { email_address: email } },
        })
      },
    )

    it('refuses a password with line breaks, and the server executes no part of it', async () => {
      const { email } = await app.tenant('control')
      expect((await login(app, email, CONTROL)).status).toBe(401)
      expect((await login(app, email, 'x\r\nb LOGIN admin@plain.test right\r\n')).status).toBe(401)
      expect(dovecot.log()).not.toContain('Error')
    })

    it('verifies against the hashes of Mailplane', async () => {
      const { email } = await app.tenant('hashed')
      expect((await login(app, email, HASHED.toUpperCase())).status).toBe(401)
      expect((await login(app, email, HASHED)).status).toBe(200)
    })
  })

  it('responds with 503 and counts no failure while the server is stopped', async () => {
    const other = await startDovecot(await users())
    const app = await start(other.ports.imaps, 'true')
    try {
      const { email } = await app.tenant('plain')
      expect((await login(app, email, 'right')).status).toBe(200)
      await other.stop()
      expect(await login(app, email, 'right')).toMatchObject({
        status: 503,
        body: { error: 'Mail server unavailable' },
      })
      const failures = await app.core.db.selectFrom('failed_auth_attempts').selectAll().execute()
      expect(failures).toEqual([])
    } finally {
      await other.remove()
      await app.stop()
    }
  })
})
