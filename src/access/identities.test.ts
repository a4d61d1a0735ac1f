import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/time.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const ME = '/api/v1/auth/me'
const keyRow = (keyId: string) =>
  app.core.db
    .selectFrom('api_keys')
    .select(['id', 'last_used', sql<string>`xmin::text`.as('version')])
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow()

/** The transaction id of the last write to the session row. */
async function sessionVersion(id: string): Promise<string> {
  const row = await app.core.db
    .selectFrom('sessions')
    .select(sql<string>`xmin::text`.as('version'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.version
}

describe('a cached credential', () => {
  it('is rejected at once when its key is revoked in the database', async () => {
    const tenant = await app.tenant('revoked')
    expect((await tenant.get(ME)).status).toBe(200)
    await sql`update api_keys set active = false where key_id = ${tenant.keyId}`.execute(
      app.core.db,
    )
    await app.core.access.settled()
    expect(await tenant.get(ME)).toMatchObject({ status: 401, body: { msg: 'Invalid API key' } })
  })

  it('is rejected at once when its key is deleted in the database', async () => {
    const tenant = await app.tenant('deleted')
    expect((await tenant.get(ME)).status).toBe(200)
    await sql`delete from api_keys where key_id = ${tenant.keyId}`.execute(app.core.db)
    await app.core.access.settled()
    expect((await tenant.get(ME)).status).toBe(401)
  })

  it('loses platform scope at once when its scope is changed in the database', async () => {
    const tenant = await app.tenant('demoted')
    const key = await app.key(tenant.organizationId, { scope: 'platform' })
    expect((await key.post('/api/v1/platform/auth/logout')).status).toBe(200)
    await sql`update api_keys set scope = 'organization' where key_id = ${key.keyId}`.execute(
      app.core.db,
    )
    await app.core.access.settled()
    expect(await key.post('/api/v1/platform/auth/logout')).toMatchObject({
      status: 403,
      body: { msg: 'Platform scope required' },
    })
  })

  it('is rejected while its organization is suspended and accepted afterwards', async () => {
    const tenant = await app.tenant('suspended')
    const other = await app.tenant('bystander')
    const session = await app.session('dashboard', tenant.userId)
    expect((await tenant.get(ME)).status).toBe(200)
    expect((await session.get(ME)).status).toBe(200)

    const setActive = async (active: boolean) => {
      await sql`update organizations set active = ${active} where id = ${tenant.organizationId}`.execute(
        app.core.db,
      )
      await app.core.access.settled()
    }
    await setActive(false)
    expect(await tenant.get(ME)).toMatchObject({ status: 401, body: { msg: 'Invalid API key' } })
    expect(await session.get(ME)).toMatchObject({
      status: 401,
      body: { msg: 'Session expired or invalid' },
    })
    expect((await other.get(ME)).status).toBe(200)

    await setActive(true)
    expect((await tenant.get(ME)).status).toBe(200)
    expect((await session.get(ME)).status).toBe(200)
  })

  it('is rejected when its session is revoked or its user deactivated in the database', async () => {
    const tenant = await app.tenant('leaving')
    const [one, two] = [
      await app.session('dashboard', tenant.userId),
      await app.session('dashboard', tenant.userId),
    ]
    expect((await one.get(ME)).status).toBe(200)
    expect((await two.get(ME)).status).toBe(200)
    await sql`update sessions set revoked_at = now() where id = ${one.id}`.execute(app.core.db)
    await app.core.access.settled()
    expect((await one.get(ME)).status).toBe(401)
    expect((await two.get(ME)).status).toBe(200)
    await sql`update dashboard_users set is_active = false where id = ${tenant.userId}`.execute(
      app.core.db,
    )
    await app.core.access.settled()
    expect((await two.get(ME)).status).toBe(401)
  })

  it('is rejected by every process after one process revoked it', async () => {
    const tenant = await app.tenant('everywhere')
    const session = await app.session('dashboard', tenant.userId)
    const second = await startApp({ database: app.database })
    try {
      const there = () => second.send('GET', ME, { jar: session.jar })
      expect((await there()).status).toBe(200)
      expect((await session.post('/api/v1/auth/logout')).status).toBe(200)
      await expect.poll(async () => (await there()).status).toBe(401)
    } finally {
      await second.stop()
    }
  })

  it('is rejected after a revocation even when the LISTEN connection was lost', async () => {
    const tenant = await app.tenant('deaf')
    expect((await tenant.get(ME)).status).toBe(200)
    const listeners = sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
    await listeners.execute(app.core.db)
    await sql`update api_keys set active = false where key_id = ${tenant.keyId}`.execute(
      app.core.db,
    )
    await expect.poll(async () => (await tenant.get(ME)).status).toBe(401)
  })
})

describe('the last_used time of a credential', () => {
  /** Its uses are stored when a test asks for it, and not once a second. */
  let still: App
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    still = await startApp({ database: app.database }).finally(() => vi.useRealTimers())
  })
  afterAll(() => still.stop())

  const flush = () => still.core.access.identities.flush()

  it('is stored in one write for many requests', async () => {
    const tenant = await still.tenant('counted')
    await flush()
    for (let request = 1; request <= 20; request++) await tenant.get(ME)
    await flush()
    const used = await keyRow(tenant.keyId)
    expect(used.last_used).not.toBeNull()
    await flush()
    expect(await keyRow(tenant.keyId)).toEqual(used)
  })

  it('is stored by the end of a flush that began while another one had taken it', async () => {
    const tenant = await still.tenant('taken')
    await tenant.get(ME)
    let second: Promise<unknown> | undefined
    await app.core.db.transaction().execute(async (tx) => {
      await sql`select 1 from api_keys where key_id = ${tenant.keyId} for update`.execute(tx)
      void flush()
      second = flush().then(async () => (await keyRow(tenant.keyId)).last_used)
      await keyRow(tenant.keyId)
    })
    expect(await second).not.toBeNull()
  })

  it('is not changed by a request that was rejected', async () => {
    const tenant = await still.tenant('unused')
    expect((await tenant.get('/api/v1/platform/audit')).status).toBe(403)
    await flush()
    expect((await keyRow(tenant.keyId)).last_used).toBeNull()
  })

  it('is never replaced with an earlier time', async () => {
    const tenant = await still.tenant('ahead')
    await sql`update api_keys set last_used = '2999-01-01' where key_id = ${tenant.keyId}`.execute(
      still.core.db,
    )
    await tenant.get(ME)
    await flush()
    expect((await keyRow(tenant.keyId)).last_used).toBe('2999-01-01T00:00:00.000Z')
  })

  it('extends the idle expiry of a session, in one write for many requests', async () => {
    const tenant = await still.tenant('sliding')
    const session = await still.session('dashboard', tenant.userId)
    await flush()
    const before = await sessionVersion(session.id)
    still.clock.advance(MINUTE_MS)
    for (let request = 1; request <= 10; request++) await session.get(ME)
    expect(await sessionVersion(session.id)).toBe(before)
    await flush()
    const row = await still.core.db
      .selectFrom('sessions')
      .select('expires_at')
      .where('id', '=', session.id)
      .executeTakeFirstOrThrow()
    const hours = (Date.parse(row.expires_at) - still.clock.now().getTime()) / HOUR_MS
    expect(hours).toBeGreaterThan(7.99)
    expect(hours).toBeLessThanOrEqual(8)
  })
})
