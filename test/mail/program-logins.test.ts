import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newIp, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { openLines } from '../support/line-socket.ts'
import { ISSUER, programOf, tokensOf } from '../support/oauth.ts'
import { waitFor } from '../support/wait.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('../support/token-login.py', import.meta.url))
const MECHANISMS = ['XOAUTH2', 'OAUTHBEARER'] as const
const APP_PASSWORDS = '/api/v1/mailbox/app-passwords'

let host: MailHost
let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
let holder: Awaited<ReturnType<MailHost['app']['session']>>
let program: Awaited<ReturnType<typeof programOf>>
beforeAll(async () => {
  if (edgeMissing) return
  host = await startMailHost({
    oauth: true,
    env: { OAUTH_ISSUER: ISSUER, SVC_TRUSTED_PROXIES: '127.0.0.1' },
  })
  acme = await host.app.tenant('acme')
  holder = await host.app.session('mailbox', acme.accountId)
  const made = await acme.post('/api/v1/oauth/clients', {
    name: 'Desktop',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1/signed-in'],
    scopes: ['openid', 'imap', 'pop', 'smtp', 'sieve'],
  })
  expect(made.status, made.text).toBe(201)
  program = await programOf(host.app, made.body.data)
})
afterAll(() => host?.stop())

describe.skipIf(edgeMissing)(`app passwords of mail programs${skipped}`, () => {
  const make = async (...scopes: string[]): Promise<{ id: string; password: string }> => {
    const made = await holder.post(APP_PASSWORDS, { name: scopes.join(' '), scopes })
    expect(made.status).toBe(201)
    return made.body.data
  }
  const imapLogin = async (password: string) => {
    const client = await openImap({ port: host.ports.imaps })
    const answer = await client.login(acme.email, password)
    client.end()
    return answer
  }
  const imap = async (password: string) => (await imapLogin(password)).ok
  const pop3 = async (password: string) => {
    const lines = await openLines({ port: host.ports.pop3s, tls: true })
    await lines.line()
    lines.send(`USER ${acme.email}\r\n`)
    await lines.line()
    lines.send(`PASS ${password}\r\n`)
    const answer = await lines.line()
    lines.end()
    return answer.startsWith('+OK')
  }
  const smtp = async (password: string) => (await host.authCode(acme.email, password)) === 235
  const webLogin = (two_factor_code?: string) =>
    host.app.send('POST', '/api/v1/mailbox-auth/login', {
      body: {
        email_address: acme.email,
        password: PASSWORD,
        ...(two_factor_code && { two_factor_code }),
      },
      from: newIp(),
    })

  it('log in to the services of their scopes, beside each other and after a wrong password', async () => {
    const reading = await make('imap')
    const sending = await make('smtp')
    const both = await make('imap', 'smtp')
    for (let round = 0; round < 2; round++) {
      expect([await imap(reading.password), await smtp(reading.password)]).toEqual([true, false])
      expect([await imap(sending.password), await smtp(sending.password)]).toEqual([false, true])
      expect(await imap('wrong-wrong-wrong-wrong')).toBe(false)
      expect([await imap(both.password), await smtp(both.password)]).toEqual([true, true])
      expect([await imap(PASSWORD), await smtp(PASSWORD)]).toEqual([true, true])
    }
    expect([await pop3(reading.password), await pop3(sending.password)]).toEqual([true, false])
    const used = await waitFor(async () => {
      const { items } = (await holder.get(APP_PASSWORDS)).body.data
      const one = items.find(({ id }: { id: string }) => id === reading.id)
      return one.last_used_at ? one : undefined
    })
    expect(used).toMatchObject({ last_used_service: 'imap' })
  })

  it('are refused at the next login after their revocation', async () => {
    const { id, password } = await make('imap', 'smtp')
    expect([await imap(password), await smtp(password)]).toEqual([true, true])
    expect((await holder.delete(`${APP_PASSWORDS}/${id}`)).body.data.cache_flushed).toBe(true)
    expect([await imap(password), await smtp(password)]).toEqual([false, false])
  })

  it('are needed while the second factor is on, except on the own pages', async () => {
    const { password } = await make('imap', 'smtp')
    expect([await imap(PASSWORD), await smtp(PASSWORD)]).toEqual([true, true])
    const setup = await holder.post('/api/v1/mailbox/two-factor/setup')
    const { secret } = setup.body.data
    const code = host.app.code(secret)
    expect((await holder.post('/api/v1/mailbox/two-factor/confirm', { code })).status).toBe(200)
    // The change reaches Dovecot's cache through a notification.
    await waitFor(async () => !(await imap(PASSWORD)))
    expect([await smtp(PASSWORD), await pop3(PASSWORD)]).toEqual([false, false])
    // Only those who know the password learn why it is not enough.
    expect((await imapLogin(PASSWORD)).status).toContain('make an app password')
    expect((await imapLogin('wrong-wrong-wrong')).status).not.toContain('app password')
    expect([await imap(password), await smtp(password)]).toEqual([true, true])
    expect((await webLogin()).body.data).toEqual({ two_factor_required: true })
    host.app.clock.advance(60_000)
    expect((await webLogin(host.app.code(secret))).body.data.email_address).toBe(acme.email)
    expect(await imap(PASSWORD)).toBe(false)
    host.app.clock.advance(60_000)
    const body = { two_factor_code: host.app.code(secret) }
    expect((await holder.delete('/api/v1/mailbox/two-factor', body)).status).toBe(200)
    await waitFor(() => imap(PASSWORD))
  })
})

describe.skipIf(edgeMissing)(`logins with access tokens${skipped}`, () => {
  type Protocol = 'imap' | 'pop' | 'smtp' | 'sieve'
  const ports = () => ({
    imap: host.ports.imaps,
    pop: host.ports.pop3s,
    smtp: host.ports.submission,
    sieve: host.ports.sieve,
  })
  const logIn = async (
    protocol: Protocol,
    token: string,
    mechanism: string = 'XOAUTH2',
    email = acme.email,
  ) => {
    const port = String(ports()[protocol])
    const { stdout } = await run('python3', [SCRIPT, protocol, port, mechanism, email, token])
    return stdout.trim() === 'ok'
  }
  const tokens = (scope: string, email = acme.email) => tokensOf(program, email, scope)

  it('work over IMAP, POP3, SMTP and ManageSieve with both mechanisms', async () => {
    const { access_token } = await tokens('openid imap pop smtp sieve')
    for (const mechanism of MECHANISMS) {
      for (const protocol of ['imap', 'pop', 'smtp', 'sieve'] as const) {
        expect([protocol, mechanism, await logIn(protocol, access_token, mechanism)]).toEqual([
          protocol,
          mechanism,
          true,
        ])
      }
    }
    const used = await waitFor(async () => {
      const { items } = (await acme.get('/api/v1/oauth/grants')).body.data
      return items.find((one: { last_used_at: string | null }) => one.last_used_at !== null)
    })
    expect(used).toMatchObject({ user_email: acme.email, client_name: 'Desktop' })
  })

  it('work with curl', async () => {
    const { access_token } = await tokens('imap')
    const url = `imaps://127.0.0.1:${host.ports.imaps}/INBOX`
    const curl = (token: string) =>
      run('curl', [
        '--silent',
        '--insecure',
        '--user',
        acme.email,
        '--oauth2-bearer',
        token,
        '--request',
        'NOOP',
        url,
      ]).then(
        () => true,
        () => false,
      )
    expect(await curl(access_token)).toBe(true)
    expect(await curl('garbage')).toBe(false)
  })

  it('are limited to the scopes of the token and to its mailbox', async () => {
    const { access_token } = await tokens('imap')
    expect(await logIn('smtp', access_token)).toBe(false)
    expect(await logIn('pop', access_token)).toBe(false)
    expect(await logIn('imap', access_token)).toBe(true)
    const email = `other@${acme.domain}`
    await acme.post('/api/v1/mailboxes/email-accounts', { email, password: PASSWORD })
    expect(await logIn('imap', access_token, 'XOAUTH2', email)).toBe(false)
    // The cache of Dovecot has a right token of this mailbox now.
    expect(await logIn('imap', `${access_token}x`)).toBe(false)
    expect(await logIn('imap', access_token)).toBe(true)
  })

  it('end with the token, the grant, the password and the mailbox', async () => {
    const revoked = await tokens('imap')
    expect(await logIn('imap', revoked.access_token)).toBe(true)
    await client.tokenRevocation(program.config, revoked.access_token)
    expect(await logIn('imap', revoked.access_token)).toBe(false)

    const ended = await tokens('imap')
    expect(await logIn('imap', ended.access_token)).toBe(true)
    for (const { grant_id } of (await holder.get('/api/v1/mailbox/grants')).body.data.items) {
      expect((await holder.delete(`/api/v1/mailbox/grants/${grant_id}`)).status).toBe(200)
    }
    expect(await logIn('imap', ended.access_token)).toBe(false)

    const email = `leaving@${acme.domain}`
    const account = { email, password: PASSWORD }
    const made = await acme.post('/api/v1/mailboxes/email-accounts', account)
    const path = `/api/v1/mailboxes/email-accounts/${made.body.data.id}`
    const first = await tokens('imap', email)
    expect(await logIn('imap', first.access_token, 'XOAUTH2', email)).toBe(true)
    await acme.put(path, { password: 'another-passphrase-77' })
    await waitFor(async () => !(await logIn('imap', first.access_token, 'XOAUTH2', email)))
    await acme.put(path, { password: PASSWORD })
    const second = await tokens('imap', email)
    expect(await logIn('imap', second.access_token, 'XOAUTH2', email)).toBe(true)
    await acme.put(path, { status: 'suspended' })
    await waitFor(async () => !(await logIn('imap', second.access_token, 'XOAUTH2', email)))

    const expired = await tokens('imap')
    expect(await logIn('imap', expired.access_token)).toBe(true)
    await sql`update oauth_items set expires_at = now() where kind = 'AccessToken'`.execute(
      host.app.core.db,
    )
    await waitFor(async () => !(await logIn('imap', expired.access_token)))
  })

  it('are not counted as wrong passwords when they fail', async () => {
    const failed = async () => {
      await host.app.limiter.flush()
      const rows = await host.app.core.db
        .selectFrom('failed_auth_attempts')
        .select('username')
        .where('username', '=', acme.email)
        .execute()
      return rows.length
    }
    for (let at = 0; at < 6; at++) {
      expect(await logIn('imap', `garbage ${at}`.replace(' ', '-'))).toBe(false)
      expect(await logIn('smtp', `garbage ${at}`.replace(' ', '-'), 'OAUTHBEARER')).toBe(false)
    }
    expect(await failed()).toBe(0)
    expect(await host.authCode(acme.email, PASSWORD)).toBe(235)
    expect(await host.authCode(acme.email, 'wrong password')).toBe(535)
    await waitFor(async () => (await failed()) > 0)
  })
})
