import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { type ImapServer, startImapServer } from '../../../../test/support/imap-server.ts'
import { ISSUER, programOf, tokensOf } from '../../../../test/support/oauth.ts'

const PATH = '/api/v1/oauth/grants'
const OWN = '/api/v1/mailbox/grants'

let app: App
let imap: ImapServer
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
})
afterAll(async () => {
  await app.stop()
  await imap.stop()
})

/** A tenant whose holder has signed in to a program. */
async function connected(name: string) {
  const tenant = await app.tenant(name)
  imap.passwords.set(tenant.email, PASSWORD)
  const made = await tenant.post('/api/v1/oauth/clients', {
    name: 'Desktop',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1/signed-in'],
    scopes: ['openid', 'email', 'jmap', 'dav'],
  })
  const program = await programOf(app, made.body.data)
  const tokens = await tokensOf(program, tenant.email, 'openid email jmap')
  const holder = await app.session('mailbox', tenant.accountId)
  return { tenant, holder, clientId: made.body.data.client_id as string, tokens }
}
type Tokens = Awaited<ReturnType<typeof connected>>['tokens']
const accountOf = ({ access_token }: Tokens, service: 'jmap' | 'dav' = 'jmap') =>
  app.core.access.mailLogins.verifyToken({ service, token: access_token, ip: '192.0.2.7' })

describe('grants', () => {
  it('are listed for tenants and holders, and ended by holders', async () => {
    const { tenant, holder, clientId, tokens } = await connected('own')
    const expected = {
      client_id: clientId,
      client_name: 'Desktop',
      user_email: tenant.email,
      scopes: ['openid', 'email', 'jmap'],
    }
    const listed = await tenant.get(PATH)
    expect(listed.body.data.items).toEqual([expect.objectContaining(expected)])
    expect((await tenant.get(`${PATH}?email=nobody@own.test`)).body.data.items).toEqual([])
    expect((await tenant.get(`${PATH}?client_id=${clientId}`)).body.data.items).toHaveLength(1)
    const own = await holder.get(OWN)
    expect(own.body.data.items).toEqual([expect.objectContaining(expected)])
    const { grant_id } = own.body.data.items[0]
    expect(await accountOf(tokens)).toMatchObject({ id: tenant.accountId, email: tenant.email })
    expect(await accountOf(tokens, 'dav')).toBeUndefined()
    expect((await holder.delete(`${OWN}/${grant_id}`)).status).toBe(200)
    expect(await accountOf(tokens)).toBeUndefined()
    expect((await holder.delete(`${OWN}/${grant_id}`)).status).toBe(404)
    expect((await tenant.get(PATH)).body.data.items).toEqual([])
  })

  it('are ended by their tenant, and not found by others', async () => {
    const { tenant, tokens } = await connected('ending')
    const { tenant: stranger, holder } = await connected('stranger')
    const { grant_id } = (await tenant.get(PATH)).body.data.items[0]
    expect((await stranger.delete(`${PATH}/${grant_id}`)).status).toBe(404)
    expect((await holder.delete(`${OWN}/${grant_id}`)).status).toBe(404)
    expect(await accountOf(tokens)).toMatchObject({ id: tenant.accountId })
    expect((await tenant.delete(`${PATH}/${grant_id}`)).status).toBe(200)
    expect(await accountOf(tokens)).toBeUndefined()
  })

  it('cannot be ended by a token or by its id of another kind', async () => {
    const { tenant } = await connected('kinds')
    const token = await app.core.db
      .selectFrom('oauth_items')
      .select('id')
      .where('kind', '=', 'AccessToken')
      .where('email_account_id', '=', tenant.accountId)
      .executeTakeFirstOrThrow()
    expect((await tenant.delete(`${PATH}/${token.id}`)).status).toBe(404)
  })

  it('give no access to a suspended mailbox or organization', async () => {
    const { tenant, tokens } = await connected('suspended')
    const path = `/api/v1/mailboxes/email-accounts/${tenant.accountId}`
    await tenant.put(path, { status: 'suspended' })
    expect(await accountOf(tokens)).toBeUndefined()
    await tenant.put(path, { status: 'active' })
    expect(await accountOf(tokens)).toMatchObject({ id: tenant.accountId })
    app.clock.advance(3601_000)
    expect(await accountOf(tokens)).toBeUndefined()
    app.clock.reset()
  })
})
