import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

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

/** Changes with every write of the row. */
async function sessionVersion(id: string): Promise<string> {
  const row = await app.core.db
    .selectFrom('sessions')
    .select(sql<string>`xmin::text`.as('version'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.version
}

describe('a credential that was good a moment ago', () => {
  it('is refused at once when its key is revoked by hand in the database', async () => {
    const tenant = await app.tenant('revoked')
    expect((await tenant.get(ME)).status).toBe(200)
    await sql`update api_keys set active = false where key_id = ${tenant.keyId}`.execute(
      app.core.db,
    )
    await app.core.access.settled()
    expect(await tenant.get(ME)).toMatchObject({ status: 401, body: { msg: 'Invalid API key' } })
  })

  it('is refused at once when its key is deleted', async () => {
    const tenant = await app.tenant('deleted')
    expect((await tenant.get(ME)).status).toBe(200)
    await sql`delete from api_keys where key_id = ${tenant.keyId}`.execute(app.core.db)
    await app.core.access.settled()
    expect((await tenant.get(ME)).status).toBe(401)
  })

  it('loses a permission at once when that is taken from it by hand', async () => {
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

  it('stops with the suspension of its organization and works again when that ends', async () => {
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

  it('stops when its session is revoked, or its user made inactive, by hand', async () => {
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

  it('stops in every process, not only in the one that revoked it', async () => {
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

  it('is read afresh, and still refused when revoked, while changes cannot be heard of', async () => {
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

describe('the last use of a credential', () => {
  it('is stored in one write for many requests', async () => {
    const tenant = await app.tenant('counted')
    await app.core.access.identities.flush()
    for (let request = 1; request <= 20; request++) await tenant.get(ME)
    await app.core.access.identities.flush()
    const used = await keyRow(tenant.keyId)
    expect(used.last_used).not.toBeNull()
    await app.core.access.identities.flush()
    expect(await keyRow(tenant.keyId)).toEqual(used)
  })

  it('is not touched by a request that was refused', async () => {
    const tenant = await app.tenant('unused')
    expect((await tenant.get('/api/v1/platform/audit')).status).toBe(403)
    await app.core.access.identities.flush()
    expect((await keyRow(tenant.keyId)).last_used).toBeNull()
  })

  it('never moves back', async () => {
    const tenant = await app.tenant('ahead')
    await sql`update api_keys set last_used = '2999-01-01' where key_id = ${tenant.keyId}`.execute(
      app.core.db,
    )
    await tenant.get(ME)
    await app.core.access.identities.flush()
    expect((await keyRow(tenant.keyId)).last_used).toBe('2999-01-01T00:00:00.000Z')
  })

  it('moves the idle expiry of a session, also in one write for many requests', async () => {
    const tenant = await app.tenant('sliding')
    const session = await app.session('dashboard', tenant.userId)
    await app.core.access.identities.flush()
    const before = await sessionVersion(session.id)
    app.clock.advance(60_000)
    for (let request = 1; request <= 10; request++) await session.get(ME)
    expect(await sessionVersion(session.id)).toBe(before)
    await app.core.access.identities.flush()
    const row = await app.core.db
      .selectFrom('sessions')
      .select('expires_at')
      .where('id', '=', session.id)
      .executeTakeFirstOrThrow()
    const hours = (Date.parse(row.expires_at) - app.clock.now().getTime()) / 3_600_000
    expect(hours).toBeGreaterThan(7.99)
    expect(hours).toBeLessThanOrEqual(8)
  })
})
