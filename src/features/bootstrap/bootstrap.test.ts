import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'

let app: App
const start = async () => {
  app = await startApp()
}

const body = { organization_name: 'Acme', admin_email: 'Admin@Acme.Test', admin_password: PASSWORD }
const tokenFile = () => join(app.dataDir, 'bootstrap-token')
const token = () => readFileSync(tokenFile(), 'utf8').trim()
const bootstrap = (
  sent: object = body,
  headers: Record<string, string> = { 'x-bootstrap-token': token() },
) => app.send('POST', '/api/v1/bootstrap/', { headers, body: sent })

describe('the state of the first run', () => {
  beforeEach(start)
  afterEach(() => app.stop())

  it('says what is open and where the token is, until it is done', async () => {
    const state = async () => (await app.send('GET', '/api/v1/bootstrap/')).body.data
    expect(await state()).toEqual({
      organization: 'open',
      operator: 'open',
      token_files: {
        organization: tokenFile(),
        operator: join(app.dataDir, 'operator-bootstrap-token'),
      },
    })
    await bootstrap()
    expect(await state()).toMatchObject({
      organization: 'done',
      operator: 'open',
      token_files: { organization: null },
    })
  })
})

describe('bootstrap of the first organization', () => {
  beforeEach(start)
  afterEach(() => app.stop())

  it('creates the first tenant, returns the API key once, and removes the token', async () => {
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600)
    const answer = await bootstrap()
    expect(answer).toMatchObject({
      status: 200,
      body: {
        type: 'success',
        msg: 'Bootstrap complete',
        data: { domain: 'acme.test', mailbox: 'admin@acme.test' },
      },
    })
    expect(existsSync(tokenFile())).toBe(false)
    const me = await app.send('GET', '/api/v1/auth/me', {
      headers: { 'x-api-key': answer.body.data.api_key },
    })
    expect(me.body.data.organization).toEqual({
      id: answer.body.data.organization_id,
      name: 'Acme',
    })
    const login = await app.dashboard('admin@acme.test')
    expect(login.login.status).toBe(200)
    const stored = await app.core.db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
    expect(JSON.stringify(stored)).not.toContain(answer.body.data.api_key)
    const domain = await app.core.db.selectFrom('domains').selectAll().executeTakeFirstOrThrow()
    expect(domain.verified_at).not.toBeNull()
    expect(domain.ownership_verified_at).not.toBeNull()
    const events = await app.core.db.selectFrom('events').selectAll().execute()
    const { organization_id } = answer.body.data
    expect(events).toMatchObject([
      {
        event: 'org.created',
        source: 'api',
        data: { name: 'Acme', admin_email: 'admin@acme.test' },
      },
      { event: 'domain.added', data: { domain: 'acme.test', domain_id: domain.id } },
      { event: 'mailbox.created', data: { email: 'admin@acme.test', organization_id } },
    ])
  })

  it('gives the first domain a DKIM key and its DNS record (B3.1, N3)', async () => {
    const { api_key } = (await bootstrap()).body.data
    const headers = { 'x-api-key': api_key }
    const { items } = (await app.send('GET', '/api/v1/domains/', { headers })).body.data
    const { body } = await app.send('GET', `/api/v1/domains/${items[0].id}`, { headers })
    expect(body.data).toMatchObject({
      dkim_enabled: true,
      dkim_record: expect.stringMatching(/^v=DKIM1; k=rsa; p=MII/),
    })
    expect(body.data.dns_records).toContainEqual(
      expect.objectContaining({
        type: 'TXT',
        name: 'default._domainkey.acme.test',
        value: body.data.dkim_record,
      }),
    )
  })

  it('is offered again after a restart while only a platform key exists (B3.6)', async () => {
    await app.key(null, { scope: 'platform' })
    expect(await app.core.access.bootstrap.prepare()).toEqual(['organization', 'operator'])
    expect((await bootstrap()).status).toBe(200)
    expect(await app.core.access.bootstrap.prepare()).toEqual(['operator'])
  })

  it('rejects a wrong or missing token before it reads the body, and keeps the right token valid', async () => {
    expect(await bootstrap(body, { 'x-bootstrap-token': 'wrong' })).toMatchObject({
      status: 401,
      body: { msg: 'Invalid bootstrap token' },
    })
    expect(await bootstrap({}, {})).toMatchObject({
      status: 401,
      body: { msg: 'Invalid bootstrap token' },
    })
    expect((await bootstrap()).status).toBe(200)
  })

  it('returns 409 once an organization exists, with any token', async () => {
    const right = token()
    await bootstrap()
    for (const sent of [right, 'wrong']) {
      expect(await bootstrap(body, { 'x-bootstrap-token': sent })).toMatchObject({
        status: 409,
        body: { msg: 'Already bootstrapped -- an organization already exists' },
      })
    }
  })

  it('accepts exactly one of many concurrent calls', async () => {
    const right = token()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        bootstrap({ ...body, organization_name: `Acme ${index}` }, { 'x-bootstrap-token': right }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200, 409, 409, 409, 409, 409, 409, 409,
    ])
    expect(await app.core.db.selectFrom('organizations').selectAll().execute()).toHaveLength(1)
    expect(await app.core.db.selectFrom('api_keys').selectAll().execute()).toHaveLength(1)
  })

  it('returns the API key again only to a retry with the token and its Idempotency-Key', async () => {
    const right = token()
    const retry = { 'x-bootstrap-token': right, 'idempotency-key': 'first' }
    const first = await bootstrap(body, retry)
    const again = await bootstrap(body, retry)
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotency-replayed']).toBe('true')
    const stranger = await bootstrap(body, {
      'x-bootstrap-token': 'wrong',
      'idempotency-key': 'first',
    })
    expect(stranger.status).toBe(409)
    const rows = await app.core.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(rows.map(({ response }) => response?.toString('latin1')).join()).not.toContain(
      first.body.data.api_key,
    )
  })
})

describe('bootstrap with invalid data', () => {
  beforeAll(start)
  afterAll(() => app.stop())

  it.each([
    ['short1', 'Password must be at least 12 characters long'],
    ['1234567890123', 'Password must contain letters'],
    ['only-letters-here', 'Password must contain numbers'],
    ['Password1234', 'Password is too common; choose something less predictable'],
  ])('rejects the password %s and keeps the token valid', async (admin_password, msg) => {
    const answer = await bootstrap({ ...body, admin_password })
    expect(answer).toMatchObject({
      status: 422,
      body: { msg, detail: [{ loc: ['body', 'admin_password'], msg }] },
    })
    expect(existsSync(tokenFile())).toBe(true)
  })

  it.each([['no-at-sign'], ['two@@acme.test'], ['a b@acme.test'], ['admin@nodot'], ['admin@-.-']])(
    'rejects the address %s',
    async (admin_email) => {
      expect((await bootstrap({ ...body, admin_email })).status).toBe(422)
    },
  )
})
