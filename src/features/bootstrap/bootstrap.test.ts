import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'

let app: App
beforeEach(async () => {
  app = await startApp()
})
afterEach(() => app.stop())

const body = { organization_name: 'Acme', admin_email: 'Admin@Acme.Test', admin_password: PASSWORD }
const tokenFile = () => join(app.dataDir, 'bootstrap-token')
const token = () => readFileSync(tokenFile(), 'utf8').trim()
const bootstrap = (
  sent: object = body,
  headers: Record<string, string> = { 'x-bootstrap-token': token() },
) => app.send('POST', '/api/v1/bootstrap/', { headers, body: sent })

describe('bootstrap of the first organization', () => {
  it('creates everything needed to begin, tells the key once, and removes the token', async () => {
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
    const events = await app.core.db.selectFrom('events').selectAll().execute()
    expect(events).toMatchObject([
      {
        event: 'org.created',
        source: 'api',
        data: { name: 'Acme', admin_email: 'admin@acme.test' },
      },
    ])
  })

  it('refuses a wrong or missing token without spending the right one, and before looking at the body', async () => {
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

  it('answers 409 once an organization exists, whatever the token', async () => {
    const right = token()
    await bootstrap()
    for (const sent of [right, 'wrong']) {
      expect(await bootstrap(body, { 'x-bootstrap-token': sent })).toMatchObject({
        status: 409,
        body: { msg: 'Already bootstrapped -- an organization already exists' },
      })
    }
  })

  it.each([
    ['short1', 'Password must be at least 12 characters long'],
    ['1234567890123', 'Password must contain letters'],
    ['only-letters-here', 'Password must contain numbers'],
    ['Password1234', 'Password is too common; choose something less predictable'],
  ])('refuses the password %s and keeps the token', async (admin_password, msg) => {
    const answer = await bootstrap({ ...body, admin_password })
    expect(answer).toMatchObject({
      status: 422,
      body: { msg, detail: [{ loc: ['body', 'admin_password'], msg }] },
    })
    expect(existsSync(tokenFile())).toBe(true)
  })

  it.each([['no-at-sign'], ['two@@acme.test'], ['a b@acme.test'], ['admin@nodot'], ['admin@-.-']])(
    'refuses the address %s',
    async (admin_email) => {
      expect((await bootstrap({ ...body, admin_email })).status).toBe(422)
    },
  )

  it('lets exactly one of many concurrent calls through', async () => {
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

  it('tells the key again to a retry whose answer was lost, and to nobody else', async () => {
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
