import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../../test/support/app.ts'
import { errorOf, ISSUER, programOf } from '../../../../test/support/oauth.ts'
import { sha256 } from '../../../lib/tokens.ts'

const PATH = '/api/v1/oauth/clients'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Client
beforeAll(async () => {
  app = await startApp({
    oauth: true,
    env: {
      OAUTH_ISSUER: ISSUER,
      SVC_TRUSTED_PROXIES: '127.0.0.1',
      SVC_SELF_SERVICE_KEYS: 'true',
    },
  })
  acme = await app.tenant('acme')
  admin = await app.key(acme.organizationId, { permissions: { admin_access: true } })
})
afterAll(() => app.stop())

const WEB = { name: 'Webmail', redirect_uris: ['https://mail.acme.test/cb'] }

describe('OAuth clients of a tenant', () => {
  it('get a secret that is shown once and stored as a hash', async () => {
    const made = await acme.post(PATH, WEB)
    expect(made).toMatchObject({
      status: 201,
      body: {
        data: {
          ...WEB,
          client_type: 'confidential',
          grant_types: ['authorization_code', 'refresh_token'],
          organization_id: acme.organizationId,
          key_id: null,
          active: true,
        },
      },
    })
    const { client_id, client_secret } = made.body.data
    const read = await acme.get(`${PATH}/${client_id}`)
    expect(read.status).toBe(200)
    expect(read.text).not.toContain(client_secret)
    const rotated = await acme.post(`${PATH}/${client_id}/rotate-secret`)
    expect(rotated.body.data.client_secret).not.toBe(client_secret)
    const row = await app.core.db
      .selectFrom('oauth_clients')
      .select('secret_hash')
      .where('id', '=', client_id)
      .executeTakeFirstOrThrow()
    expect(row.secret_hash).toBe(sha256(rotated.body.data.client_secret))
  })

  it('are changed and deleted, and 404 follows', async () => {
    const { client_id } = (await acme.post(PATH, WEB)).body.data
    const changed = await acme.patch(`${PATH}/${client_id}`, { name: 'Mail', active: false })
    expect(changed.body.data).toMatchObject({ name: 'Mail', active: false, client_id })
    expect((await acme.delete(`${PATH}/${client_id}`)).status).toBe(200)
    for (const answer of [
      await acme.get(`${PATH}/${client_id}`),
      await acme.patch(`${PATH}/${client_id}`, { name: 'x' }),
      await acme.post(`${PATH}/${client_id}/rotate-secret`),
      await acme.delete(`${PATH}/${client_id}`),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { msg: 'OAuth client not found' } })
    }
  })

  it('of another tenant are not found', async () => {
    const other = await app.tenant('others')
    const { client_id } = (await other.post(PATH, WEB)).body.data
    expect((await acme.get(`${PATH}/${client_id}`)).status).toBe(404)
    expect((await acme.patch(`${PATH}/${client_id}`, { name: 'x' })).status).toBe(404)
    expect((await acme.delete(`${PATH}/${client_id}`)).status).toBe(404)
    const listed = (await acme.get(`${PATH}?per_page=100`)).body.data.items
    expect(listed.map((one: { client_id: string }) => one.client_id)).not.toContain(client_id)
    expect((await other.get(`${PATH}/${client_id}`)).status).toBe(200)
  })

  it.each([
    ['no redirect', { name: 'x' }],
    ['http elsewhere', { name: 'x', redirect_uris: ['http://mail.acme.test/cb'] }],
    ['loopback on a server', { name: 'x', redirect_uris: ['http://127.0.0.1/cb'] }],
    ['a fragment', { name: 'x', redirect_uris: ['https://mail.acme.test/cb#x'] }],
    ['a login', { name: 'x', redirect_uris: ['https://a:b@mail.acme.test/cb'] }],
    ['no URI', { name: 'x', redirect_uris: ['mail'] }],
    ['a script', { name: 'x', client_type: 'public', redirect_uris: ['javascript:alert(1)'] }],
    ['a short scheme', { name: 'x', client_type: 'public', redirect_uris: ['mail:/cb'] }],
    ['an unknown scope', { ...WEB, scopes: ['admin'] }],
    ['no way in', { ...WEB, grant_types: ['refresh_token'] }],
    [
      'a public API client',
      { name: 'x', client_type: 'public', grant_types: ['client_credentials'] },
    ],
    ['both ways', { ...WEB, grant_types: ['client_credentials', 'authorization_code'] }],
    ['scopes of holders', { name: 'x', grant_types: ['client_credentials'], scopes: ['imap'] }],
    ['an unknown key', { name: 'x', grant_types: ['client_credentials'], key_id: 'nothing' }],
  ])('are refused with 422: %s', async (_what, body) => {
    expect((await acme.post(PATH, body)).status).toBe(422)
  })

  it('may have a scheme of their own and loopback as programs on a device', async () => {
    const redirect_uris = ['com.acme.mail:/cb', 'http://127.0.0.1/cb', 'http://[::1]/cb']
    const made = await acme.post(PATH, { name: 'App', client_type: 'public', redirect_uris })
    expect(made).toMatchObject({ status: 201, body: { data: { client_secret: null } } })
    const { client_id } = made.body.data
    expect((await acme.post(`${PATH}/${client_id}/rotate-secret`)).status).toBe(409)
  })
})

describe('a client with the rights of a key', () => {
  const keyWith = async (...scopes: string[]) =>
    (await admin.post('/api/v1/api-keys/', { name: 'key', scopes })).body.data
  const clientOf = async (key_id: string) => {
    const made = await acme.post(PATH, { name: 'API', grant_types: ['client_credentials'], key_id })
    expect(made.status, made.text).toBe(201)
    return made.body.data
  }
  const call = async (token: string, path: string, method = 'GET', body?: object) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await app.send(method, path, { headers, ...(body && { body }) })).status
  }
  const tokenOf = async (made: { client_id: string; client_secret: string }, scope?: string) => {
    const { config } = await programOf(app, made)
    return client.clientCredentialsGrant(config, scope === undefined ? {} : { scope })
  }
  it('calls the API with these rights and no more', async () => {
    const { key_id } = await keyWith('domains:read', 'mailboxes:write')
    const made = await clientOf(key_id)
    const { access_token, scope } = await tokenOf(made)
    expect(scope).toBeUndefined()
    expect(await call(access_token, '/api/v1/domains/')).toBe(200)
    expect(await call(access_token, '/api/v1/domains/', 'POST', { domain: 'x.test' })).toBe(403)
    expect(await call(access_token, '/api/v1/webhooks/endpoints')).toBe(403)
    expect(await call('garbage', '/api/v1/domains/')).toBe(401)
    const narrow = await tokenOf(made, 'domains:read')
    expect(narrow.scope).toBe('domains:read')
    expect(await call(narrow.access_token, '/api/v1/domains/')).toBe(200)
    expect(await call(narrow.access_token, '/api/v1/mailboxes/email-accounts')).toBe(403)
    expect(await errorOf(tokenOf(made, 'domains:write'))).toBe('invalid_scope')
    expect(await errorOf(tokenOf(made, 'admin'))).toBe('invalid_scope')
    expect(await errorOf(tokenOf({ ...made, client_secret: 'wrong' }))).toBe('invalid_client')
  })

  it('cannot have the key of another tenant', async () => {
    const globex = await app.tenant('globex')
    const other = await app.key(globex.organizationId, { permissions: { admin_access: true } })
    const made = await other.post('/api/v1/api-keys/', { name: 'key', scopes: ['read'] })
    const { key_id } = made.body.data
    const body = { name: 'API', grant_types: ['client_credentials'], key_id }
    expect((await acme.post(PATH, body)).status).toBe(422)
    expect((await other.post(PATH, body)).status).toBe(201)
  })

  it('ends with its key, its client, its revocation and its time', async () => {
    const { key_id } = await keyWith('read')
    const made = await clientOf(key_id)
    const { config } = await programOf(app, made)
    const revoked = await tokenOf(made)
    expect(await call(revoked.access_token, '/api/v1/domains/')).toBe(200)
    await client.tokenRevocation(config, revoked.access_token)
    await app.core.access.settled()
    expect(await call(revoked.access_token, '/api/v1/domains/')).toBe(401)

    const late = await tokenOf(made)
    app.clock.advance(3601_000)
    expect(await call(late.access_token, '/api/v1/domains/')).toBe(401)
    app.clock.reset()

    const token = await tokenOf(made)
    expect(await call(token.access_token, '/api/v1/domains/')).toBe(200)
    expect((await admin.post(`/api/v1/api-keys/${key_id}/revoke`)).status).toBe(200)
    expect(await call(token.access_token, '/api/v1/domains/')).toBe(401)

    const second = await clientOf((await keyWith('read')).key_id)
    const other = await tokenOf(second)
    expect(await call(other.access_token, '/api/v1/domains/')).toBe(200)
    expect((await acme.delete(`${PATH}/${second.client_id}`)).status).toBe(200)
    expect(await call(other.access_token, '/api/v1/domains/')).toBe(401)
  })

  it('cannot be made by a key with fewer rights, nor with the key of another tenant', async () => {
    const { key_id } = await keyWith('admin')
    const small = await keyWith('oauth:write')
    const headers = { 'x-api-key': small.api_key }
    const body = { name: 'API', grant_types: ['client_credentials'], key_id }
    expect((await app.send('POST', PATH, { headers, body })).status).toBe(403)
    const other = await app.tenant('key-owner')
    expect((await other.post(PATH, body)).status).toBe(422)
    // Without a key_id the client gets the rights of the caller's own key.
    const own = await app.send('POST', PATH, {
      headers,
      body: { name: 'API', grant_types: ['client_credentials'] },
    })
    expect(own).toMatchObject({ status: 201, body: { data: { key_id: small.key_id } } })
    const { access_token } = await tokenOf(own.body.data)
    expect(await call(access_token, PATH)).toBe(200)
    expect(await call(access_token, '/api/v1/domains/')).toBe(403)
  })

  it('cannot sign in holders', async () => {
    const made = await clientOf((await keyWith('read')).key_id)
    const { config } = await programOf(app, made)
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: 'https://mail.acme.test/cb',
      scope: 'openid',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })
    const answer = await fetch(url.href.replace(ISSUER, app.base), { redirect: 'manual' })
    expect(answer.status).toBe(400)
    const loose = await programOf(app, (await acme.post(PATH, WEB)).body.data)
    expect(await errorOf(client.clientCredentialsGrant(loose.config))).toBe('invalid_request')
  })
})
