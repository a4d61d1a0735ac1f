import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mailServersOf } from '../../test/support/mail-server-settings.ts'
import { readConfig } from '../config/index.ts'
import { mailer } from './mailer.ts'

const file = (name: string) =>
  readFileSync(new URL(`../../test/support/${name}`, import.meta.url), 'utf8')
const mail = { to: ['ops@example.test'], subject: 'Hello', text: 'there' }

/** A real SMTP server that takes mail only after a login. */
async function startRelay(options: SMTPServerOptions = {}) {
  const logins: string[] = []
  const received: string[] = []
  const server = new SMTPServer({
    key: file('tls-key.pem'),
    cert: file('tls-cert.pem'),
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth({ username = '', password = '' }, _session, done) {
      logins.push(`${username}:${password}`)
      if (password === 'right') done(null, { user: username })
      else done(Object.assign(new Error('no such login'), { responseCode: 535 }))
    },
    onData(stream, session, done) {
      const sender = session.envelope.mailFrom
      received.push(`${session.user} ${sender === false ? '' : sender.address}`)
      stream.on('end', () => done()).resume()
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  return { logins, received, port: (server.server.address() as AddressInfo).port }
}

const relayMailer = (port: number, env: NodeJS.ProcessEnv) =>
  mailer(
    readConfig({
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(port),
      SMTP_USER: 'robot',
      ADMIN_EMAIL: 'admin@host.test',
      ...env,
    }),
    mailServersOf({}),
  )
const unverified = { SMTP_TLS_VERIFY: 'false' }
const login = { SMTP_PASSWORD: 'right' }

describe('system mail through a relay with a login (B8)', () => {
  it.each([
    ['STARTTLS', {}, {}],
    ['TLS from the first byte', { secure: true }, { SMTP_TLS: 'true' }],
  ])('logs in after %s', async (_, options, env) => {
    const { port, received, logins } = await startRelay(options)
    const sending = relayMailer(port, { ...login, ...unverified, ...env })
    await sending.send(mail)
    expect(received).toEqual(['robot admin@host.test'])
    expect(logins).toEqual(['robot:right'])
    expect(sending.server()).toMatchObject({ host: '127.0.0.1', port, user: 'robot' })
  })

  it('reads the password from a file for each mail', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mailplane-secret-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'password')
    const { port, received } = await startRelay()
    const sending = relayMailer(port, { SMTP_PASSWORD_FILE: path, ...unverified })
    await expect(sending.send(mail)).rejects.toThrow('SMTP_PASSWORD_FILE cannot be read (ENOENT)')
    writeFileSync(path, 'wrong\n')
    await expect(sending.send(mail)).rejects.toThrow('535')
    writeFileSync(path, 'right\n')
    await sending.send(mail)
    expect(received).toHaveLength(1)
  })

  it('reports a refused login with the reply of the server and without the password', async () => {
    const { port, received } = await startRelay()
    const sending = relayMailer(port, { SMTP_PASSWORD: 'mistyped', ...unverified })
    const error = await sending.send(mail).catch((reason) => reason)
    expect(error.message).toContain('no such login')
    expect(error.message).not.toContain('mistyped')
    expect(received).toEqual([])
  })

  it.each([
    ['the certificate cannot be verified', {}, {}],
    ['the server offers no TLS', { disabledCommands: ['STARTTLS'] }, unverified],
  ])('does not send the password when %s', async (_, options, env) => {
    const { port, logins, received } = await startRelay({
      ...options,
      allowInsecureAuth: true,
    } as SMTPServerOptions)
    await expect(relayMailer(port, { ...login, ...env }).send(mail)).rejects.toThrow()
    expect({ logins, received }).toEqual({ logins: [], received: [] })
  })

  it('sends the password without TLS only when SMTP_TLS is false', async () => {
    const { port, received } = await startRelay({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
    })
    await relayMailer(port, { ...login, SMTP_TLS: 'false' }).send(mail)
    expect(received).toHaveLength(1)
  })
})
