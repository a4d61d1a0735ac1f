import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../test/support/app.ts'
import { basic, type JmapClient, jmapClient, USING } from '../../test/support/jmap.ts'
import { waitFor } from '../../test/support/wait.ts'
import { jmap } from './jmap.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let client: JmapClient
beforeAll(async () => {
  app = await startApp({ daemons: [jmap] })
  acme = await app.tenant('acme')
  client = await jmapClient(app.base, acme.email)
})
afterAll(() => app.stop())

const session = (email: string, password: string, from = newIp()) =>
  app.send('GET', '/.well-known/jmap', { headers: basic(email, password), from })

const ECHO = ['Core/echo', { hello: true }, 'a']
const post = (raw: string, headers: Record<string, string> = {}) =>
  app.send('POST', '/jmap', { raw, headers: { ...client.headers, ...headers } })
const problem = (type: string) => `urn:ietf:params:jmap:error:${type}`

describe('the login of a JMAP program', () => {
  it('asks for credentials with 401 and a challenge', async () => {
    for (const [method, path] of [
      ['GET', '/.well-known/jmap'],
      ['POST', '/jmap'],
      ['GET', '/jmap/eventsource'],
      ['POST', `/jmap/upload/${acme.accountId}/`],
      ['GET', `/jmap/download/${acme.accountId}/B1/x`],
    ] as const) {
      const answer = await app.send(method, path)
      expect(answer.status, path).toBe(401)
      expect(answer.headers['www-authenticate']).toContain('Basic')
      expect(answer.headers['content-type']).toContain('application/problem+json')
    }
  })

  it('names the account, its limits and its URLs in the session', () => {
    expect(client.accountId).toBe(acme.accountId)
    expect(client.session).toMatchObject({
      username: acme.email,
      apiUrl: `${app.base}/jmap`,
      primaryAccounts: { 'urn:ietf:params:jmap:mail': acme.accountId },
      capabilities: { 'urn:ietf:params:jmap:core': { maxCallsInRequest: 32 } },
    })
    expect(Object.keys(client.session.accounts)).toEqual([acme.accountId])
  })

  it('refuses a wrong password, an unknown address and an unknown token', async () => {
    expect((await session(acme.email, 'wrong')).status).toBe(401)
    expect((await session('nobody@acme.test', PASSWORD)).status).toBe(401)
    for (const authorization of ['Bearer unknown', 'Basic ???', 'Basic', 'Digest x']) {
      const answer = await app.send('GET', '/.well-known/jmap', { headers: { authorization } })
      expect(answer.status, authorization).toBe(401)
    }
  })

  it('takes no password alone where a second factor is on', async () => {
    const other = await app.tenant('factor')
    expect((await session(other.email, PASSWORD)).status).toBe(200)
    const holder = { kind: 'mailbox' as const, id: other.accountId }
    const begun = await app.core.access.twoFactor.begin(app.core.db, holder, other.email)
    await app.core.access.twoFactor.spend(app.core.db, holder, app.code(begun?.secret ?? ''))
    // The remembered password is forgotten through NOTIFY.
    await waitFor(async () => (await session(other.email, PASSWORD)).status === 401)
  })

  it('takes the session of the web app, with its CSRF token', async () => {
    const { get, post: send, jar } = await app.session('mailbox', acme.accountId)
    expect((await get('/.well-known/jmap')).body.username).toBe(acme.email)
    const body = { using: USING, methodCalls: [ECHO] }
    expect((await send('/jmap', body)).body.methodResponses).toEqual([ECHO])
    const without = await app.send('POST', '/jmap', { body, jar })
    expect(without).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('CSRF') },
    })
  })

  it('takes no session of another surface', async () => {
    const { get } = await app.session('dashboard', acme.userId)
    expect((await get('/.well-known/jmap')).status).toBe(401)
  })
})

describe('a request', () => {
  it.each([
    ['no JSON', '{"using":', 'notJSON'],
    ['too deep', `{"using":${'['.repeat(500)}${']'.repeat(500)}}`, 'notJSON'],
    ['a list', '[]', 'notRequest'],
    ['calls without ids', '{"using":[],"methodCalls":[["Core/echo",{}]]}', 'notRequest'],
    ['an unknown capability', '{"using":["urn:x"],"methodCalls":[]}', 'unknownCapability'],
  ])('is refused as a whole: %s', async (_, raw, type) => {
    const answer = await post(raw)
    expect(answer).toMatchObject({ status: 400, body: { type: problem(type), status: 400 } })
    expect(answer.headers['content-type']).toContain('application/problem+json')
  })

  it('must be JSON by its content type', async () => {
    const answer = await post('{}', { 'content-type': 'text/plain' })
    expect(answer.body.type).toBe(problem('notJSON'))
  })

  it('is limited in calls and bytes', async () => {
    const calls = { using: USING, methodCalls: Array.from({ length: 33 }, () => ECHO) }
    expect((await post(JSON.stringify(calls))).body).toMatchObject({
      type: problem('limit'),
      limit: 'maxCallsInRequest',
    })
    const large = { using: USING, methodCalls: [['Core/echo', { a: 'x'.repeat(1e7) }, 'a']] }
    const answer = await post(JSON.stringify(large)).catch(() => undefined)
    // The server may close the connection before the whole body is sent.
    if (answer) expect(answer.body).toMatchObject({ limit: 'maxSizeRequest' })
  })

  it('echoes and refers to earlier answers', async () => {
    const { body } = await client.request([
      ['Core/echo', { list: [{ id: 'x' }, { id: 'y' }] }, 'a'],
      ['Core/echo', { '#ids': { resultOf: 'a', name: 'Core/echo', path: '/list/*/id' } }, 'b'],
      ['Core/echo', { '#ids': { resultOf: 'z', name: 'Core/echo', path: '/list' } }, 'c'],
    ])
    expect(body.methodResponses).toEqual([
      ['Core/echo', { list: [{ id: 'x' }, { id: 'y' }] }, 'a'],
      ['Core/echo', { ids: ['x', 'y'] }, 'b'],
      ['error', { type: 'invalidResultReference' }, 'c'],
    ])
  })

  it('does not know the account of another tenant', async () => {
    const other = await app.tenant('stranger')
    for (const name of ['Mailbox/get', 'Email/query', 'Identity/get', 'VacationResponse/get']) {
      const answer = await client.call(name, { accountId: other.accountId })
      expect(answer, name).toEqual({ type: 'accountNotFound' })
    }
    expect((await client.upload('x', 'text/plain', other.accountId)).status).toBe(404)
    const blob = await client.upload('secret')
    const stranger = await jmapClient(app.base, other.email)
    expect((await stranger.get(`/jmap/download/${acme.accountId}/${blob.blobId}/x`)).status).toBe(
      404,
    )
    expect((await stranger.get(`/jmap/download/${other.accountId}/${blob.blobId}/x`)).status).toBe(
      404,
    )
  })

  it('says that the mail server is away, and needs a capability for its methods', async () => {
    expect(await client.call('Mailbox/get')).toMatchObject({ type: 'serverUnavailable' })
    const { body } = await client.request([['Mailbox/get', {}, 'a']], USING.slice(0, 1))
    expect(body.methodResponses[0]).toEqual(['error', { type: 'unknownMethod' }, 'a'])
  })
})

describe('uploads', () => {
  it('are stored byte for byte and served as a download that a browser does not show', async () => {
    const text = '<script>alert(1)</script>'
    const blob = await client.upload(text, 'text/html')
    expect(blob).toMatchObject({ status: 201, type: 'text/html', size: text.length })
    const name = encodeURIComponent('a "b".html')
    const answer = await client.get(`/jmap/download/${acme.accountId}/${blob.blobId}/${name}`)
    expect(answer).toMatchObject({ status: 200, text })
    expect(answer.headers).toMatchObject({
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': `attachment; filename*=UTF-8''a%20%22b%22.html`,
    })
  })

  it('count against the quota of the mailbox', async () => {
    const other = await app.tenant('full')
    await app.core.db
      .updateTable('email_accounts')
      .set({ storage_quota: 1000 })
      .where('id', '=', other.accountId)
      .execute()
    const small = await jmapClient(app.base, other.email)
    expect((await small.upload('x'.repeat(600))).status).toBe(201)
    expect(await small.upload('x'.repeat(600))).toMatchObject({ status: 413, limit: 'quota' })
    expect((await small.upload('x'.repeat(300))).status).toBe(201)
  })
})

describe('push subscriptions', () => {
  const subscribe = (url: string, more: object = {}) =>
    client.call('PushSubscription/set', { create: { a: { deviceClientId: 'd', url, ...more } } })

  it.each([
    'http://push.example/x',
    'https://127.0.0.1/x',
    'https://10.1.2.3/x',
    'https://localhost/x',
  ])('refuse the URL %s', async (url) => {
    const { notCreated } = await subscribe(url)
    expect(notCreated.a).toMatchObject({ type: 'invalidProperties', properties: ['url'] })
  })

  it('need the code that only the receiver gets, and are of one holder', async () => {
    const { created } = await subscribe('https://push.example.test/x')
    const { id } = created.a
    const [shown] = (await client.call('PushSubscription/get', { ids: null })).list
    expect(shown).toMatchObject({ id, deviceClientId: 'd', verificationCode: null })
    expect(shown).not.toHaveProperty('url')
    const wrong = await client.call('PushSubscription/set', {
      update: { [id]: { verificationCode: 'guessed' } },
    })
    expect(wrong.notUpdated[id].type).toBe('invalidProperties')
    const { verification_code } = await app.core.db
      .selectFrom('jmap_push_subscriptions')
      .select('verification_code')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const right = await client.call('PushSubscription/set', {
      update: { [id]: { verificationCode: verification_code } },
    })
    expect(right.updated).toEqual({ [id]: null })
    const other = await app.tenant('pushed')
    const stranger = await jmapClient(app.base, other.email)
    const destroyed = await stranger.call('PushSubscription/set', { destroy: [id] })
    expect(destroyed.notDestroyed[id]).toEqual({ type: 'notFound' })
  })
})
