import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../test/support/app.ts'
import { type ImapServer, startImapServer } from '../../test/support/imap-server.ts'
import { basic, USING } from '../../test/support/jmap.ts'
import { untilBlocked } from '../../test/support/locks.ts'
import { ISSUER, programOf, tokensOf } from '../../test/support/oauth.ts'
import { waitFor } from '../../test/support/wait.ts'
import { jmap } from './jmap.ts'

const SCOPE = 'openid email jmap'
const MAX_TOKEN_FAILURES = 200

let app: App
let imap: ImapServer
beforeAll(async () => {
  imap = await startImapServer()
  app = await startApp({
    oauth: true,
    daemons: [jmap],
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

type Headers = Record<string, string>

/** A tenant whose holder is logged in to the web app. */
async function holderOf(name: string) {
  const tenant = await app.tenant(name)
  imap.passwords.set(tenant.email, PASSWORD)
  const web = await app.session('mailbox', tenant.accountId)
  const cookie = [...web.jar].map(([key, value]) => `${key}=${value}`).join('; ')
  const ofSession: Headers = { cookie, 'x-csrf-token': web.csrfToken }
  return {
    tenant,
    web,
    ofSession,
    ofPassword: basic(tenant.email, PASSWORD) as Headers,
    async appPassword() {
      const made = await web.post('/api/v1/mailbox/app-passwords', {
        name: 'Phone',
        scopes: ['jmap'],
      })
      const { id, password } = made.body.data
      return { headers: basic(tenant.email, password) as Headers, id: id as string }
    },
    async token(): Promise<Headers> {
      const made = await tenant.post('/api/v1/oauth/clients', {
        name: 'Desktop',
        client_type: 'public',
        redirect_uris: ['http://127.0.0.1/signed-in'],
        scopes: ['openid', 'email', 'jmap', 'dav'],
      })
      const tokens = await tokensOf(await programOf(app, made.body.data), tenant.email, SCOPE)
      return { authorization: `Bearer ${tokens.access_token}` }
    },
    newPassword: (password: string) =>
      tenant.put(`/api/v1/mailboxes/email-accounts/${tenant.accountId}`, { password }),
    subscriptions: () =>
      app.core.db
        .selectFrom('jmap_push_subscriptions')
        .select('id')
        .where('email_account_id', '=', tenant.accountId)
        .execute(),
  }
}
type Holder = Awaited<ReturnType<typeof holderOf>>

const push = async (headers: Headers, method: 'get' | 'set', args: object) => {
  const body = { using: USING, methodCalls: [[`PushSubscription/${method}`, args, 'a']] }
  const answer = await app.send('POST', '/jmap', { headers, body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.methodResponses[0][1]
}
const create = (headers: Headers) =>
  push(headers, 'set', {
    create: { a: { deviceClientId: 'd', url: 'https://push.example.test/x' } },
  })
const subscribe = async (headers: Headers): Promise<string> => (await create(headers)).created.a.id
const idsOf = async (headers: Headers): Promise<string[]> =>
  (await push(headers, 'get', { ids: null })).list.map(({ id }: { id: string }) => id)

async function allCredentials(holder: Holder) {
  const { headers } = await holder.appPassword()
  return [holder.ofPassword, headers, await holder.token(), holder.ofSession]
}

describe('a push subscription', () => {
  it('is known to the credential that made it, and to no other one of the holder', async () => {
    const holder = await holderOf('own')
    const credentials = await allCredentials(holder)
    const ids: string[] = []
    for (const headers of credentials) ids.push(await subscribe(headers))
    for (const [at, headers] of credentials.entries()) {
      expect(await idsOf(headers)).toEqual([ids[at]])
      const other = ids[(at + 1) % ids.length] as string
      expect((await push(headers, 'get', { ids: [other] })).notFound).toEqual([other])
      const set = await push(headers, 'set', { update: { [other]: { types: null } } })
      expect(set.notUpdated[other]).toEqual({ type: 'notFound' })
      const destroyed = await push(headers, 'set', { destroy: [other] })
      expect(destroyed.notDestroyed[other]).toEqual({ type: 'notFound' })
    }
    expect((await push(credentials[0] as Headers, 'set', { destroy: [ids[0]] })).destroyed).toEqual(
      [ids[0]],
    )
  })

  it('ends with its app password, its grant or its session, while the others go on', async () => {
    const holder = await holderOf('revoked')
    const { id, headers } = await holder.appPassword()
    const kept = await subscribe(holder.ofPassword)
    const gone = [await subscribe(headers), await subscribe(await holder.token())]
    gone.push(await subscribe(holder.ofSession))
    expect((await holder.web.delete(`/api/v1/mailbox/app-passwords/${id}`)).status).toBe(200)
    const [grant] = (await holder.tenant.get('/api/v1/oauth/grants')).body.data.items
    await holder.tenant.delete(`/api/v1/oauth/grants/${grant.grant_id}`)
    expect((await holder.web.post('/api/v1/mailbox-auth/logout', {})).status).toBe(200)
    expect(await holder.subscriptions()).toEqual([{ id: kept }])
  })

  it('ends with the old password when there is a new one', async () => {
    const holder = await holderOf('stolen')
    for (const headers of await allCredentials(holder)) await subscribe(headers)
    expect((await holder.newPassword('another-passphrase-77')).status).toBe(200)
    expect(await holder.subscriptions()).toEqual([])
  })

  it('ends with the password when a second factor is turned on', async () => {
    const holder = await holderOf('factor')
    await subscribe(holder.ofPassword)
    const subject = { kind: 'mailbox' as const, id: holder.tenant.accountId }
    const { twoFactor } = app.core.access
    const begun = await twoFactor.begin(app.core.db, subject, holder.tenant.email)
    expect(await holder.subscriptions()).toHaveLength(1)
    await twoFactor.spend(app.core.db, subject, app.code(begun?.secret ?? ''))
    expect(await holder.subscriptions()).toEqual([])
  })

  it('is not made by a request whose password is changed meanwhile', async () => {
    const { db } = app.core
    const holder = await holderOf('racing')
    await idsOf(holder.ofPassword)
    let creating: ReturnType<typeof create> | undefined
    await db.transaction().execute(async (tx) => {
      await tx
        .updateTable('email_accounts')
        .set({ password_hash: 'another' })
        .where('id', '=', holder.tenant.accountId)
        .execute()
      creating = create(holder.ofPassword)
      await untilBlocked(db)
    })
    expect((await creating)?.notCreated.a).toMatchObject({ type: 'forbidden' })
    expect(await holder.subscriptions()).toEqual([])
  })
})

describe('a stream of changes', () => {
  /** Opens a stream; resolves with its text when the server has ended it. */
  async function open(headers: Headers) {
    const path = '/jmap/eventsource?types=*&closeafter=no&ping=0'
    const answer = await fetch(app.base + path, { headers })
    expect(answer.status).toBe(200)
    const stream = { isOpen: true, end: Promise.resolve('') }
    stream.end = answer.text().finally(() => {
      stream.isOpen = false
    })
    return stream
  }

  it.each([
    ['a new password', (holder: Holder) => holder.newPassword('another-passphrase-77')],
    ['a suspension', ({ tenant }: Holder) => set('email_accounts', tenant.accountId, 'status')],
    ['a domain that is turned off', ({ tenant }: Holder) => set('domains', tenant.domainId)],
    [
      'an organization that is turned off',
      ({ tenant }: Holder) => set('organizations', tenant.organizationId),
    ],
  ])('ends after %s, whatever the credential', async (name, change) => {
    const holder = await holderOf(name.replaceAll(' ', '-'))
    const other = await holderOf(`${name.replaceAll(' ', '-')}-beside`)
    const { headers } = await holder.appPassword()
    const streams = [await open(holder.ofPassword), await open(headers)]
    streams.push(await open(await holder.token()))
    const beside = await open(other.ofPassword)
    await change(holder)
    for (const stream of streams) await stream.end
    expect(beside.isOpen).toBe(true)
    await set('email_accounts', other.tenant.accountId, 'status')
    await beside.end
  })

  const set = (table: string, id: string, column = 'active') =>
    sql`update ${sql.table(table)}
      set ${sql.ref(column)} = ${column === 'status' ? sql`'suspended'` : sql`false`}
      where id = ${id}`.execute(app.core.db)

  it('ends with its app password, its token or its session, while others go on', async () => {
    const holder = await holderOf('streaming')
    const { id, headers } = await holder.appPassword()
    const kept = await open(holder.ofPassword)
    const [phone, desktop] = [await open(headers), await open(await holder.token())]
    const web = await open(holder.ofSession)
    await holder.web.delete(`/api/v1/mailbox/app-passwords/${id}`)
    await phone.end
    expect(desktop.isOpen && web.isOpen).toBe(true)
    const [grant] = (await holder.tenant.get('/api/v1/oauth/grants')).body.data.items
    await holder.tenant.delete(`/api/v1/oauth/grants/${grant.grant_id}`)
    await desktop.end
    await holder.web.post('/api/v1/mailbox-auth/logout', {})
    await web.end
    expect(kept.isOpen).toBe(true)
    await holder.newPassword('another-passphrase-77')
    await kept.end
  })
})

describe('an access token that is not valid', () => {
  const open = (authorization: string, from: string) =>
    app.send('GET', '/.well-known/jmap', {
      headers: { authorization, 'x-forwarded-for': from },
    })

  it('is refused with 429 after 200 of them from one network, and counts as no password', async () => {
    const holder = await holderOf('tokens')
    const { authorization = '' } = await holder.token()
    const from = newIp()
    for (let at = 0; at < MAX_TOKEN_FAILURES; at++) {
      expect((await open(`Bearer wrong-${at}`, from)).status).toBe(401)
    }
    for (const one of ['Bearer wrong', authorization]) {
      const answer = await open(one, from)
      expect(answer.status).toBe(429)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      expect(answer.headers['content-type']).toContain('application/problem+json')
    }
    expect((await open(authorization, newIp())).status).toBe(200)
    expect((await open(holder.ofPassword.authorization as string, from)).status).toBe(200)
    app.clock.advance(15 * 60_000 + 1000)
    await waitFor(async () => (await open(authorization, from)).status === 200)
    app.clock.reset()
  })
})
