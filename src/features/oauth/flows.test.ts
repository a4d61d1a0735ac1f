import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { type ImapServer, startImapServer } from '../../../test/support/imap-server.ts'
import {
  beginCode,
  browserOf,
  errorOf,
  ISSUER,
  type OauthClient,
  programOf,
  REDIRECT,
  signInAndAllow,
  tokensOf,
} from '../../../test/support/oauth.ts'
import { sha256 } from '../../lib/tokens.ts'

let app: App
let imap: ImapServer
let acme: Awaited<ReturnType<App['tenant']>>
let desktop: OauthClient
let web: OauthClient
beforeAll(async () => {
  imap = await startImapServer()
  app = await startApp({
    oauth: true,
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      OAUTH_ISSUER: ISSUER,
      SVC_TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  acme = await app.tenant('acme')
  imap.passwords.set(acme.email, PASSWORD)
  desktop = await make({
    name: 'Desktop',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1/signed-in'],
    grant_types: ['authorization_code', 'refresh_token', 'device_code'],
    scopes: ['openid', 'email', 'offline_access', 'imap', 'smtp'],
  })
  web = await make({ name: 'Web', redirect_uris: ['https://app.acme.test/cb'] })
})
afterAll(async () => {
  await app.stop()
  await imap.stop()
})

const make = async (body: object, tenant = acme): Promise<OauthClient> => {
  const made = await tenant.post('/api/v1/oauth/clients', body)
  expect(made.status, made.text).toBe(201)
  return made.body.data
}
const SCOPE = 'openid email imap'
const itemsOf = (kind: string) =>
  app.core.db.selectFrom('oauth_items').selectAll().where('kind', '=', kind).execute()
/** The name and scopes of the mailbox that the token is for; undefined when it is not valid. */
const known = async (config: client.Configuration, token: string) => {
  const answer = await client.tokenIntrospection(config, token)
  return answer.active ? answer.username : undefined
}

describe('the code flow', () => {
  it('signs a holder in, and stores neither code nor token nor payload in clear', async () => {
    const program = await programOf(app, desktop)
    const tokens = await tokensOf(program, acme.email, SCOPE)
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: SCOPE, expires_in: 3600 })
    expect(tokens.claims()).toMatchObject({ sub: acme.accountId, iss: ISSUER })
    const info = await client.fetchUserInfo(program.config, tokens.access_token, acme.accountId)
    expect(info).toMatchObject({ sub: acme.accountId, email: acme.email, email_verified: true })
    const rows = await app.core.db.selectFrom('oauth_items').selectAll().execute()
    const hashes = rows.map(({ id_hash }) => id_hash)
    expect(hashes).toContain(sha256(tokens.access_token))
    expect(hashes).toContain(sha256(tokens.refresh_token as string))
    const stored = JSON.stringify(rows.map((row) => ({ ...row, payload: row.payload.toString() })))
    expect(stored).not.toContain(tokens.access_token)
    expect(stored).not.toContain(tokens.refresh_token)
    expect(stored).not.toContain('accountId')
  })

  it('ends the grant when a code is used twice', async () => {
    const program = await programOf(app, desktop)
    const { url, checks } = await beginCode(program, SCOPE)
    const back = new URL((await signInAndAllow(program.browser(), url, acme.email)).url)
    const tokens = await client.authorizationCodeGrant(program.config, back, checks)
    const again = client.authorizationCodeGrant(program.config, back, checks)
    expect(await errorOf(again)).toBe('invalid_grant')
    const info = client.fetchUserInfo(program.config, tokens.access_token, acme.accountId)
    expect(await errorOf(info)).toBeDefined()
    const refresh = client.refreshTokenGrant(program.config, tokens.refresh_token as string)
    expect(await errorOf(refresh)).toBe('invalid_grant')
  })

  it('lets one of two requests with the same code succeed', async () => {
    const program = await programOf(app, desktop)
    const { url, checks } = await beginCode(program, SCOPE)
    const back = new URL((await signInAndAllow(program.browser(), url, acme.email)).url)
    const results = await Promise.all(
      [1, 2].map(() => errorOf(client.authorizationCodeGrant(program.config, back, checks))),
    )
    expect(results.filter((result) => result === undefined).length).toBeLessThan(2)
    expect(results).toContain('invalid_grant')
  })

  it('rotates refresh tokens, and ends the grant when an old one returns', async () => {
    const program = await programOf(app, desktop)
    const first = await tokensOf(program, acme.email, SCOPE)
    const old = first.refresh_token as string
    const second = await client.refreshTokenGrant(program.config, old)
    expect(second.refresh_token).not.toBe(old)
    expect(await errorOf(client.refreshTokenGrant(program.config, old))).toBe('invalid_grant')
    const newest = client.refreshTokenGrant(program.config, second.refresh_token as string)
    expect(await errorOf(newest)).toBe('invalid_grant')
    const info = client.fetchUserInfo(program.config, second.access_token, acme.accountId)
    expect(await errorOf(info)).toBeDefined()
  })

  it('refuses a request without PKCE, and one with the plain method', async () => {
    const { config } = await programOf(app, desktop)
    const start: Record<string, string> = { redirect_uri: REDIRECT, scope: SCOPE, state: 'x' }
    const plain = { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }
    for (const more of [{}, plain]) {
      const url = client.buildAuthorizationUrl(config, { ...start, ...more }).href
      const { url: back, left } = await browserOf(app).open(url)
      expect(left).toBe(true)
      expect(new URL(back).searchParams.get('error')).toBe('invalid_request')
    }
  })

  it.each([
    'https://evil.test/cb',
    'https://app.acme.test/cb/more',
    'https://app.acme.test/cb?x=1',
    'http://app.acme.test/cb',
  ])('shows an error and sends nobody to a redirect that is not registered: %s', async (uri) => {
    const program = await programOf(app, web)
    const { url } = await beginCode(program, SCOPE, uri)
    const shown = await browserOf(app).open(url)
    expect(shown).toMatchObject({ left: false, status: 400 })
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('refuses scopes that the client does not have, and an unknown client', async () => {
    const program = await programOf(app, desktop)
    const { url } = await beginCode(program, 'openid sieve')
    const { url: back } = await browserOf(app).open(url)
    expect(new URL(back).searchParams.get('error')).toBe('invalid_scope')
    const unknown = url.replace(desktop.client_id, 'unknown')
    expect(await browserOf(app).open(unknown)).toMatchObject({ left: false, status: 400 })
  })

  it('tells the program when the holder denies, and stores no grant', async () => {
    const program = await programOf(app, desktop)
    const before = (await itemsOf('Grant')).length
    const { url } = await beginCode(program, SCOPE)
    const browser = program.browser()
    const signIn = await browser.open(url)
    const consent = await browser.submit(signIn.url, { email: acme.email, password: PASSWORD })
    const back = new URL((await browser.submit(consent.url, { consent: 'no' })).url)
    expect(back.searchParams.get('error')).toBe('access_denied')
    expect((await itemsOf('Grant')).length).toBe(before)
  })
})

describe('revocation and introspection', () => {
  it('say what a confidential client may know, and nothing to others', async () => {
    const program = await programOf(app, web)
    const { url, checks } = await beginCode(program, SCOPE, 'https://app.acme.test/cb')
    const back = new URL((await signInAndAllow(program.browser(), url, acme.email)).url)
    const tokens = await client.authorizationCodeGrant(program.config, back, checks)
    expect(await known(program.config, tokens.access_token)).toBe(acme.email)
    expect(await known(program.config, 'garbage')).toBeUndefined()
    const other = await make({ name: 'Other', redirect_uris: ['https://other.acme.test/cb'] })
    const stranger = await programOf(app, other)
    expect(await known(stranger.config, tokens.access_token)).toBeUndefined()
    const wrong = await programOf(app, { ...web, client_secret: 'wrong' })
    expect(await errorOf(known(wrong.config, tokens.access_token))).toBe('invalid_client')
    await client.tokenRevocation(program.config, tokens.access_token)
    expect(await known(program.config, tokens.access_token)).toBeUndefined()
    expect(await itemsOf('AccessToken')).not.toContainEqual(
      expect.objectContaining({ id_hash: sha256(tokens.access_token) }),
    )
  })

  it('end all tokens with the client, the password and the mailbox', async () => {
    const program = await programOf(app, web)
    const sign = async (email = acme.email) => {
      const { url, checks } = await beginCode(program, SCOPE, 'https://app.acme.test/cb')
      const back = new URL((await signInAndAllow(program.browser(), url, email)).url)
      return client.authorizationCodeGrant(program.config, back, checks)
    }
    const email = `changing@${acme.domain}`
    imap.passwords.set(email, PASSWORD)
    const account = await acme.post('/api/v1/mailboxes/email-accounts', {
      email,
      password: PASSWORD,
    })
    const path = `/api/v1/mailboxes/email-accounts/${account.body.data.id}`
    const first = await sign(email)
    expect(await known(program.config, first.access_token)).toBe(email)
    await acme.put(path, { password: 'another-passphrase-77' })
    expect(await known(program.config, first.access_token)).toBeUndefined()
    const refresh = client.refreshTokenGrant(program.config, first.refresh_token as string)
    expect(await errorOf(refresh)).toBe('invalid_grant')

    const second = await sign(email)
    await acme.put(path, { status: 'suspended' })
    const suspended = client.refreshTokenGrant(program.config, second.refresh_token as string)
    expect(await errorOf(suspended)).toBe('invalid_grant')

    const third = await sign()
    const off = { active: false }
    expect((await acme.patch(`/api/v1/oauth/clients/${web.client_id}`, off)).status).toBe(200)
    expect(await errorOf(known(program.config, third.access_token))).toBe('invalid_client')
    await acme.patch(`/api/v1/oauth/clients/${web.client_id}`, { active: true })
    expect(await known(program.config, third.access_token)).toBeUndefined()
  })

  it('find nothing after the time of a token', async () => {
    const program = await programOf(app, desktop)
    const tokens = await tokensOf(program, acme.email, SCOPE)
    app.clock.advance(3601_000)
    try {
      const info = client.fetchUserInfo(program.config, tokens.access_token, acme.accountId)
      expect(await errorOf(info)).toBeDefined()
    } finally {
      app.clock.reset()
    }
  })
})

describe('the device flow', () => {
  const formOf = (page: string) => /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? ''

  it('connects a device after the holder has compared the code', async () => {
    const program = await programOf(app, desktop)
    const device = await client.initiateDeviceAuthorization(program.config, { scope: SCOPE })
    expect(device.verification_uri).toBe(`${ISSUER}/oauth/device`)
    const browser = program.browser()
    const shown = await browser.open(device.verification_uri_complete as string)
    expect(shown.page).toContain(device.user_code)
    expect(shown.page).not.toContain('<script')
    const wrong = await browser.submit(device.verification_uri, {
      xsrf: formOf(shown.page),
      user_code: 'BBBB-BBBB',
    })
    expect(wrong.page).toContain('role="alert"')
    const fields = { xsrf: formOf(wrong.page), user_code: device.user_code }
    const compare = await browser.submit(device.verification_uri, fields)
    expect(compare.page).toContain('Desktop')
    const confirm = { xsrf: formOf(compare.page), user_code: device.user_code, confirm: 'yes' }
    const signIn = await browser.submit(device.verification_uri, confirm)
    const consent = await browser.submit(signIn.url, { email: acme.email, password: PASSWORD })
    const done = await browser.submit(consent.url, { consent: 'yes' })
    expect(done).toMatchObject({ left: false, status: 200 })
    const tokens = await client.pollDeviceAuthorizationGrant(program.config, {
      ...device,
      interval: 0,
    })
    expect(tokens).toMatchObject({ scope: SCOPE })
    const again = client.pollDeviceAuthorizationGrant(program.config, { ...device, interval: 0 })
    expect(await errorOf(again)).toBe('invalid_grant')
  })
})

describe('the pages', () => {
  it('have a strict policy, escape what clients say, and obey the language of the browser', async () => {
    const named = await make({
      name: '<script>alert(1)</script>"&',
      client_type: 'public',
      redirect_uris: ['http://127.0.0.1/signed-in'],
    })
    const program = await programOf(app, named)
    const { url } = await beginCode(program, SCOPE)
    const browser = program.browser()
    const signIn = await browser.open(`${url}&login_hint=%22%3E%3Cb%3Ex&ui_locales=de`)
    expect(signIn.page).not.toContain('<script>')
    expect(signIn.page).not.toContain('<b>')
    expect(signIn.page).toContain('&#60;script&#62;')
    const policy = signIn.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("form-action 'self' http://127.0.0.1:43210")
    expect(policy).not.toContain('unsafe')
    const style = await fetch(`${app.base}/oauth/style.css`)
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  })

  it('ask for the second factor, and the code works once', async () => {
    const other = await app.tenant('factor')
    imap.passwords.set(other.email, PASSWORD)
    const theirs = await make(
      { name: 'Theirs', client_type: 'public', redirect_uris: ['http://127.0.0.1/signed-in'] },
      other,
    )
    const { twoFactor } = app.core.access
    const holder = { kind: 'mailbox' as const, id: other.accountId }
    const secret = (await twoFactor.begin(app.core.db, holder, other.email))?.secret as string
    await twoFactor.spend(app.core.db, holder, app.code(secret))
    app.clock.advance(60_000)
    const program = await programOf(app, theirs)
    const browser = program.browser()
    const { url } = await beginCode(program, SCOPE)
    const signIn = await browser.open(url)
    const login = { email: other.email, password: PASSWORD }
    const ask = await browser.submit(signIn.url, login)
    expect(ask.page).toContain('name="code"')
    const proof = /name="proof" value="([^"]+)"/.exec(ask.page)?.[1] ?? ''
    expect(proof).not.toContain(PASSWORD)
    const wrong = await browser.submit(signIn.url, { proof, code: '000000' })
    expect(wrong.status).toBe(401)
    expect(
      await browser.submit(signIn.url, { proof: 'forged', code: app.code(secret) }),
    ).toMatchObject({ status: 401 })
    const right = await browser.submit(signIn.url, { proof, code: app.code(secret) })
    expect(right.page).toContain('name="consent"')
    app.clock.reset()
  })

  it('refuse wrong passwords, and block after five of them', async () => {
    const program = await programOf(app, desktop)
    const { url } = await beginCode(program, SCOPE)
    const browser = program.browser()
    const { url: page } = await browser.open(url)
    const email = `guessed@${acme.domain}`
    const statuses: number[] = []
    for (let at = 0; at < 4; at++) {
      statuses.push((await browser.submit(page, { email, password: `wrong ${at}` })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  it('do not let a mailbox of another organization in, and clients of the host let all in', async () => {
    const other = await app.tenant('strangers')
    imap.passwords.set(other.email, PASSWORD)
    const program = await programOf(app, desktop)
    const { url } = await beginCode(program, SCOPE)
    const browser = program.browser()
    const { url: page } = await browser.open(url)
    const refused = await browser.submit(page, { email: other.email, password: PASSWORD })
    expect(refused).toMatchObject({ left: false, status: 401 })
    expect(refused.page).toContain('another organization')
    const operator = await app.operator('admin')
    const made = await operator.post('/api/v1/oauth/clients', {
      name: 'Host',
      client_type: 'public',
      redirect_uris: ['http://127.0.0.1/signed-in'],
    })
    expect(made.status, made.text).toBe(201)
    expect(made.body.data.organization_id).toBeNull()
    const host = await programOf(app, made.body.data)
    expect((await tokensOf(host, other.email, SCOPE)).scope).toBe(SCOPE)
  })

  it('of another browser have expired', async () => {
    const program = await programOf(app, desktop)
    const { url } = await beginCode(program, SCOPE)
    const { url: page } = await program.browser().open(url)
    const stolen = await browserOf(app).open(page)
    expect(stolen).toMatchObject({ status: 400, left: false })
    const posted = await browserOf(app).submit(page, { email: acme.email, password: PASSWORD })
    expect(posted.status).toBe(400)
  })

  it('are refused when one address sends too many requests', async () => {
    const small = await startApp({
      oauth: true,
      env: { OAUTH_REQUESTS_PER_MINUTE: '10' },
    })
    try {
      const statuses: number[] = []
      for (let at = 0; at < 25; at++) {
        statuses.push((await fetch(`${small.base}/oauth/jwks`)).status)
      }
      expect(statuses).toContain(200)
      expect(statuses).toContain(429)
    } finally {
      await small.stop()
    }
  })
})

it('the keys survive a restart, and are sealed', async () => {
  const rows = await app.core.db.selectFrom('oauth_keys').selectAll().execute()
  expect(rows).toHaveLength(1)
  expect(rows[0]?.private_key.toString()).not.toContain('"d"')
  const published = await (await fetch(`${app.base}/oauth/jwks`)).json()
  expect(published).toMatchObject({ keys: [{ kid: rows[0]?.id, kty: 'RSA', use: 'sig' }] })
  expect(JSON.stringify(published)).not.toContain('"d":')
  const second = await startApp({ oauth: true, database: app.database })
  try {
    expect(await (await fetch(`${second.base}/oauth/jwks`)).json()).toEqual(published)
  } finally {
    await second.stop()
  }
  expect(await app.core.db.selectFrom('oauth_keys').select('id').execute()).toHaveLength(1)
})
