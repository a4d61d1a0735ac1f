import { afterEach, describe, expect, it } from 'vitest'
import { type Behaviour, type ImapServer, startImapServer } from '../../test/support/imap-server.ts'
import { mailServersOf } from '../../test/support/mail-server-settings.ts'
import { waitFor } from '../../test/support/wait.ts'
import { readConfig } from '../config/index.ts'
import { ServiceUnavailable } from '../errors.ts'
import { imapLogin } from './imap-login.ts'

let server: ImapServer | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
})

const login = (port: number, env: Record<string, string> = {}) => {
  const environment = {
    IMAP_HOST: '127.0.0.1',
    IMAP_PORT: String(port),
    IMAP_TLS: 'false',
    IMAP_AUTH_TIMEOUT: '1',
    ...env,
  }
  const check = imapLogin(readConfig(environment), mailServersOf(environment), 'key')
  return (address: string, password: string) => check(address, password, '192.0.2.7')
}

const UNAVAILABLE = new ServiceUnavailable('Mail server unavailable')

describe('a password check against the mail server', () => {
  // Concurrent, because some of these take as long as the time-out.
  it.concurrent.each<Behaviour>([
    'unavailable',
    'privacy-required',
    'no-greeting',
    'hang',
    'reset',
    'hang-up',
    'garbage',
    'endless-line',
    'endless-lines',
    'refuse-literal',
    'preauth',
    'bye',
  ])('throws ServiceUnavailable in time when the server answers with: %s', async (behaviour) => {
    const { port, stop } = await startImapServer({ behaviour })
    try {
      await expect(login(port)('jane@acme.test', 'right')).rejects.toEqual(UNAVAILABLE)
    } finally {
      await stop()
    }
  })

  it.each(['true', 'starttls', 'false'])(
    'throws ServiceUnavailable before the time-out when no server listens: IMAP_TLS=%s',
    async (IMAP_TLS) => {
      const { port, stop } = await startImapServer()
      await stop()
      const start = performance.now()
      const check = login(port, { IMAP_TLS, IMAP_AUTH_TIMEOUT: '20' })
      await expect(check('jane@acme.test', 'right')).rejects.toEqual(UNAVAILABLE)
      expect(performance.now() - start).toBeLessThan(20_000)
    },
  )

  it.concurrent.each([
    ['true', 'none'],
    ['true', 'starttls'],
    ['starttls', 'none'],
    ['starttls', 'implicit'],
    ['false', 'implicit'],
  ] as const)('does not fall back to plain text: IMAP_TLS=%s, server %s', async (IMAP_TLS, tls) => {
    const { port, logins, stop } = await startImapServer({ tls })
    try {
      const check = login(port, { IMAP_TLS })
      await expect(check('jane@acme.test', 'right')).rejects.toEqual(UNAVAILABLE)
      expect(logins).toEqual([])
    } finally {
      await stop()
    }
  })

  it.each([
    ['false', 'none', false],
    ['true', 'implicit', true],
    ['starttls', 'starttls', true],
  ] as const)(
    'accepts the right password and rejects others: IMAP_TLS=%s',
    async (IMAP_TLS, tls, secure) => {
      server = await startImapServer({ tls })
      server.passwords.set('jane@acme.test', 'right')
      const check = login(server.port, { IMAP_TLS })
      expect(await check('jane@acme.test', 'right')).toBe(true)
      expect(await check('jane@acme.test', 'wrong')).toBe(false)
      expect(await check('nobody@acme.test', 'right')).toBe(false)
      expect(server.logins.map((one) => one.secure)).toEqual([secure, secure, secure])
    },
  )

  it('verifies the certificate of a server that is not on loopback, unless IMAP_TLS_VERIFY is false', async () => {
    server = await startImapServer({ tls: 'implicit' })
    // 0.0.0.0 reaches this machine too, but is not a loopback IP address.
    const env = { IMAP_HOST: '0.0.0.0', IMAP_TLS: 'true' }
    await expect(login(server.port, env)('jane@acme.test', 'right')).rejects.toEqual(UNAVAILABLE)
    expect(server.logins).toEqual([])
    const trusting = login(server.port, { ...env, IMAP_TLS_VERIFY: 'false' })
    expect(await trusting('jane@acme.test', 'right')).toBe(true)
  })

  it('ignores plain text that arrived before the TLS handshake', async () => {
    server = await startImapServer({ tls: 'starttls', injected: 'a OK you are in\r\n' })
    server.passwords.set('jane@acme.test', 'right')
    const check = login(server.port, { IMAP_TLS: 'starttls' })
    expect(await check('jane@acme.test', 'wrong').catch(() => 'unavailable')).not.toBe(true)
  })

  it.each([
    ['quotes', 'say "friend"'],
    ['backslashes', 'a\\b\\\\"c\\'],
    ['braces', '{5}\r\na LOGOUT {3+}'],
    ['line breaks', 'one\r\ntwo\nthree\rfour'],
    ['unicode', 'pässwörd-密码-🔑-\u0301'],
    ['blanks at the ends', '  padded\t'],
    ['a thousand bytes', 'ü%"\\'.repeat(205).slice(0, 1024)],
    ['one character', '*'],
  ])('sends a password with %s byte for byte', async (_what, password) => {
    server = await startImapServer()
    const address = 'jane"o\\{3}@acme.test'
    server.passwords.set(address, password)
    expect(await login(server.port)(address, password)).toBe(true)
    expect(server.logins).toEqual([
      { user: Buffer.from(address), password: Buffer.from(password), secure: false },
    ])
  })

  it.each([
    ['jane@acme.test', 'nul\0byte'],
    ['jane@acme.test\r\na LOGOUT', 'x'],
  ])(
    'rejects NUL and line breaks in an address without a connection',
    async (address, password) => {
      server = await startImapServer()
      expect(await login(server.port)(address, password)).toBe(false)
      expect(server.connections).toBe(0)
    },
  )

  it.each<Behaviour>(['unavailable', 'hang-up'])(
    'asks again when the server can check the password later: %s',
    async (behaviour) => {
      server = await startImapServer({ behaviour })
      server.passwords.set('jane@acme.test', 'right')
      const check = login(server.port, { IMAP_AUTH_TIMEOUT: '60' })('jane@acme.test', 'right')
      await waitFor(() => server?.connections === 2)
      server.behaviour = 'accept'
      expect(await check).toBe(true)
    },
  )

  it('closes every connection after success and failure', async () => {
    server = await startImapServer()
    for (const behaviour of ['accept', 'refuse', 'unavailable', 'no-greeting'] as const) {
      server.behaviour = behaviour
      await login(server.port)('jane@acme.test', 'x').catch(() => {})
    }
    await expect.poll(() => server?.open()).toBe(0)
  })
})
