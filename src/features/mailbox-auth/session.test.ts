import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { probe } from '../../../test/support/probes.ts'
import { mailboxSession } from '../../access/labels.ts'
import { HOUR_MS } from '../../lib/time.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({ features: [probe('/test/mailbox', mailboxSession())] })
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

const LOGOUT = '/api/v1/mailbox-auth/logout'
const PROBE = '/test/mailbox'
const ENDED = { status: 401, body: { msg: 'Session expired or invalid' } }

describe('a mailbox session', () => {
  const session = () => app.session('mailbox', acme.accountId)
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

  it('uses the bearer token before the cookie', async () => {
    const { jar } = await session()
    const answer = await app.send('GET', PROBE, { jar, ...bearer('unknown') })
    expect(answer).toMatchObject(ENDED)
  })

  it('needs the CSRF token for a write with the cookie, not with the bearer token', async () => {
    const { jar, token, post } = await session()
    expect(await app.send('POST', PROBE, { jar })).toMatchObject({
      status: 403,
      body: { msg: 'CSRF token missing or invalid' },
    })
    expect((await post(PROBE)).status).toBe(200)
    expect((await app.send('POST', PROBE, bearer(token))).status).toBe(200)
  })

  it('is rejected with 401 on dashboard and operator routes', async () => {
    const { get } = await session()
    for (const path of ['/api/v1/auth/me', '/api/v1/platform/auth/me']) {
      expect(await get(path)).toMatchObject({
        status: 401,
        body: { msg: 'Authentication required' },
      })
    }
  })

  it('expires after 8 idle hours, and after 7 days in any case', async () => {
    const [idle, busy] = [await session(), await session()]
    app.clock.advance(8 * HOUR_MS - 1000)
    expect((await idle.get(PROBE)).status).toBe(200)
    expect((await busy.get(PROBE)).status).toBe(200)
    for (let hours = 8; hours < 7 * 24 - 7; hours += 7) {
      app.clock.advance(7 * HOUR_MS)
      expect((await busy.get(PROBE)).status).toBe(200)
    }
    expect(await idle.get(PROBE)).toMatchObject(ENDED)
    app.clock.advance(7 * HOUR_MS)
    expect(await busy.get(PROBE)).toMatchObject(ENDED)
  })

  it('ends at once when the mailbox is suspended', async () => {
    const tenant = await app.tenant('leaving')
    const { get } = await app.session('mailbox', tenant.accountId)
    expect((await get(PROBE)).status).toBe(200)
    await sql`update email_accounts set status = 'suspended' where id = ${tenant.accountId}`.execute(
      app.core.db,
    )
    await app.core.access.settled()
    expect(await get(PROBE)).toMatchObject(ENDED)
  })

  it('is rejected while its domain is inactive and accepted afterwards', async () => {
    const { get } = await session()
    const turn = (active: boolean) => acme.put(`/api/v1/domains/${acme.domainId}`, { active })
    expect((await get(PROBE)).status).toBe(200)
    await turn(false)
    expect(await get(PROBE)).toMatchObject(ENDED)
    await turn(true)
    expect((await get(PROBE)).status).toBe(200)
  })

  it('ends at logout, which requires the CSRF token and can be repeated', async () => {
    const { jar, token, post } = await session()
    const before = new Map(jar)
    expect((await app.send('POST', LOGOUT, { jar: before })).status).toBe(403)
    const answer = await post(LOGOUT)
    expect(answer).toMatchObject({ status: 200, body: { type: 'success', msg: 'Signed out' } })
    expect(answer.cookies.sort()).toEqual([
      'svc_mailbox_csrf=; Max-Age=0; Path=/; SameSite=Lax',
      'svc_mailbox_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ])
    expect(await app.send('GET', PROBE, bearer(token))).toMatchObject(ENDED)
    expect((await app.send('POST', LOGOUT, bearer(token))).status).toBe(200)
    expect((await app.send('POST', LOGOUT, { jar: before })).status).toBe(200)
    expect((await app.send('POST', LOGOUT)).status).toBe(401)
  })

  it('survives a logout that fails with 500 because of the database', async () => {
    const { token } = await session()
    await sql`alter table sessions rename to sessions_away`.execute(app.core.db)
    try {
      expect((await app.send('POST', LOGOUT, bearer(token))).status).toBe(500)
    } finally {
      await sql`alter table sessions_away rename to sessions`.execute(app.core.db)
    }
    expect((await app.send('GET', PROBE, bearer(token))).status).toBe(200)
  })
})
