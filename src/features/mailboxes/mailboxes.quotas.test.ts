import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { ACCOUNTS, eventsOf, insertMailbox } from '../../../test/support/mailboxes.ts'

const GIB = 1024 ** 3

type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let tenants = 0

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

/** Creates a tenant whose domain has these limits; its first mailbox has 1 GiB. */
async function tenantWith(limits: { max_quota?: number; max_users?: number }) {
  const tenant = await app.tenant(`limited${++tenants}`)
  await app.core.db
    .updateTable('domains')
    .set({ active: true, ...limits })
    .where('id', '=', tenant.domainId)
    .execute()
  return tenant
}
const create = (by: Tenant, more: object = {}) =>
  by.post(ACCOUNTS, { email: `m${++tenants}@${by.domain}`, password: PASSWORD, ...more })
const quotasOf = async ({ domainId }: Tenant) =>
  (
    await app.core.db
      .selectFrom('email_accounts')
      .select('storage_quota')
      .where('domain_id', '=', domainId)
      .execute()
  ).map(({ storage_quota }) => storage_quota)

describe('the user limit of a domain', () => {
  it('is exact for twenty concurrent requests', async () => {
    const acme = await tenantWith({ max_users: 6 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(acme)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    for (const { status, body } of answers.filter(({ status }) => status !== 201)) {
      expect([status, body.msg]).toEqual([400, 'Domain has reached maximum user limit (6)'])
    }
    expect(await quotasOf(acme)).toHaveLength(6)
  })

  it('counts a deleted mailbox no more, and is checked after the duplicate address', async () => {
    const acme = await tenantWith({ max_users: 1 })
    expect((await create(acme, { email: acme.email })).status).toBe(409)
    expect((await create(acme)).status).toBe(400)
    await acme.delete(`${ACCOUNTS}/${acme.accountId}`)
    expect((await create(acme)).status).toBe(201)
  })

  it('rejects every mailbox when it is zero', async () => {
    const acme = await tenantWith({ max_users: 0 })
    expect(await create(acme)).toMatchObject({
      status: 400,
      body: { msg: 'Domain has reached maximum user limit (0)' },
    })
  })
})

describe('the storage of a domain', () => {
  it('is allotted 1 GiB per mailbox while available; later mailboxes have no quota of their own', async () => {
    const acme = await tenantWith({ max_quota: 3 * GIB })
    const answers = await Promise.all(Array.from({ length: 4 }, () => create(acme)))
    const given = answers.map(({ body }) => body.data.storage_quota)
    expect(given.sort((one, other) => other - one)).toEqual([GIB, GIB, 0, 0])
  })

  it('is not allotted twice: rejects a quota that does not fit, also for ten concurrent requests', async () => {
    const acme = await tenantWith({ max_quota: 2 * GIB })
    expect(await create(acme, { storage_quota: GIB + 1 })).toMatchObject({
      status: 400,
      body: { msg: `Domain storage quota exceeded: ${GIB} bytes are left to allot` },
    })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => create(acme, { storage_quota: GIB / 2 })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    expect((await quotasOf(acme)).reduce((sum, quota) => sum + quota)).toBe(2 * GIB)
    expect((await create(acme, { storage_quota: 0 })).status).toBe(201)
  })

  it('is unlimited when the quota is 0', async () => {
    const acme = await tenantWith({ max_quota: 0 })
    const most = Number.MAX_SAFE_INTEGER
    expect((await create(acme, { storage_quota: most })).body.data.storage_quota).toBe(most)
    expect((await create(acme, { storage_quota: most })).status).toBe(201)
  })

  it('limits later changes by either route, and a quota can always be lowered', async () => {
    const acme = await tenantWith({ max_quota: 3 * GIB })
    const { path } = await insertMailbox(app, acme, { storage_quota: GIB })
    const tooMuch = { storage_quota: 2 * GIB + 1 }
    for (const answer of [
      await acme.put(path, tooMuch),
      await acme.put(`${path}/quotas`, tooMuch),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        body: { msg: `Domain storage quota exceeded: ${2 * GIB} bytes are left to allot` },
      })
    }
    expect((await acme.put(path, { storage_quota: 2 * GIB })).status).toBe(200)
    await app.core.db
      .updateTable('domains')
      .set({ max_quota: GIB })
      .where('id', '=', acme.domainId)
      .execute()
    expect((await acme.put(path, { storage_quota: 2 * GIB - 1 })).status).toBe(200)
    expect((await acme.put(path, { storage_quota: 0 })).status).toBe(200)
    expect((await acme.put(path, { storage_quota: 1 })).status).toBe(400)
  })

  it('is not exceeded by concurrent changes, creations and deletions, which do not deadlock', async () => {
    const acme = await tenantWith({ max_quota: 4 * GIB })
    const boxes = await Promise.all(
      Array.from({ length: 4 }, () => insertMailbox(app, acme, { storage_quota: 0 })),
    )
    const answers = await Promise.all([
      ...boxes.map(({ path }) => acme.put(path, { storage_quota: GIB })),
      ...boxes.map(({ path }) => acme.put(`${path}/quotas`, { storage_quota: 2 * GIB })),
      ...boxes.slice(2).map(({ path }) => acme.delete(path)),
      create(acme, { storage_quota: GIB }),
      create(acme, { storage_quota: GIB }),
    ])
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect((await quotasOf(acme)).reduce((sum, quota) => sum + quota)).toBeLessThanOrEqual(4 * GIB)
  })
})

describe('the quotas of a mailbox', () => {
  it('are returned with their usage', async () => {
    const acme = await tenantWith({})
    const { id, email, path } = await insertMailbox(app, acme, {
      storage_quota: 1000,
      storage_used: 800,
    })
    expect(await acme.get(`${path}/quotas`)).toMatchObject({
      status: 200,
      body: {
        msg: 'Account quota information retrieved successfully',
        data: {
          account_id: id,
          email,
          storage_quota: 1000,
          storage_used: 800,
          usage_percentage: 80,
          over_threshold: true,
          rate_limits: {},
          last_storage_calculation: null,
        },
      },
    })
    await acme.put(`${path}/quotas`, { storage_quota: 0 })
    expect((await acme.get(`${path}/quotas`)).body.data).toMatchObject({
      usage_percentage: 0,
      over_threshold: false,
    })
  })

  it('are set together and emit an event', async () => {
    const acme = await tenantWith({})
    const { id, path, email } = await insertMailbox(app, acme)
    const quotas = { storage_quota: 5, rate_limits: { hourly: 1 }, storage_quotas: { soft: 2 } }
    expect(await acme.put(`${path}/quotas`, { ...quotas, name: 'ignored' })).toMatchObject({
      status: 200,
      body: { msg: 'Account quotas updated successfully', data: { account_id: id, ...quotas } },
    })
    expect((await acme.get(path)).body.data.name).toBeNull()
    expect(await eventsOf(app, id)).toMatchObject([
      { event: 'mailbox.updated' },
      {
        event: 'mailbox.quota.changed',
        org_id: acme.organizationId,
        domain: acme.domain,
        data: { email, storage_quota: 5, previous_storage_quota: GIB, quota_override: false },
      },
    ])
  })

  it.each<[object, string]>([
    [{}, 'No quota data provided'],
    [{ name: 'X' }, 'No quota data provided'],
    [{ storage_quota: -1 }, 'Storage quota must be non-negative'],
    [{ storage_quota: '5' }, 'Storage quota must be a valid number'],
    [{ rate_limits: 7 }, 'rate_limits must be an object'],
  ])('reject %j', async (body, problem) => {
    const acme = await tenantWith({})
    const { msg, data } = (await acme.put(`${ACCOUNTS}/${acme.accountId}/quotas`, body)).body
    expect(data?.errors?.[0] ?? msg).toBe(problem)
  })
})

describe('a mailbox quota set by an operator', () => {
  it('cannot be changed by the tenant, also with force, until an operator clears the override', async () => {
    const acme = await tenantWith({})
    const operator = await app.operator('operator')
    const { id, path, email } = await insertMailbox(app, acme)
    const set = await operator.put(`${path}/quotas`, { storage_quota: 7 })
    expect(set.body.data).toMatchObject({ storage_quota: 7, quota_override: true })
    const platformKey = await app.key(acme.organizationId, { scope: 'platform' })
    for (const answer of [
      await acme.put(`${path}/quotas`, { storage_quota: 9 }),
      await acme.put(`${path}/quotas?force=true`, { storage_quota: 9 }),
      await acme.put(`${path}/quotas`, { rate_limits: {} }),
      await acme.put(path, { name: 'X', storage_quota: 9 }),
      await acme.post('/api/v1/mailboxes/edit/quota', { mailbox: email, quota: 9 }),
      await platformKey.put(`${path}/quotas`, { storage_quota: 9 }),
    ]) {
      expect(answer.status).toBe(409)
      expect(answer.body.msg).toContain(`set by ${operator.email}`)
    }
    const edited = await acme.post('/api/v1/mailboxes/edit', { items: [email], attr: { quota: 9 } })
    expect(edited.body.data[0].status).toBe('error')
    expect((await acme.get(path)).body.data).toMatchObject({ storage_quota: 7, name: null })
    expect((await acme.put(path, { name: 'X' })).status).toBe(200)

    const forced = await operator.put(`${path}/quotas?force=true`, { storage_quota: 8 })
    expect(forced.body.data).toMatchObject({ storage_quota: 8, quota_override: false })
    expect((await acme.put(`${path}/quotas`, { storage_quota: 9 })).status).toBe(200)
    const { quota_override_at, quota_override_by } = (await acme.get(path)).body.data
    expect([quota_override_at, quota_override_by]).toEqual([null, null])
    expect((await eventsOf(app, id)).at(-1)).toMatchObject({
      event: 'mailbox.quota.changed',
      data: { storage_quota: 9, previous_storage_quota: 8 },
    })
  })

  it('is limited by the domain too', async () => {
    const acme = await tenantWith({ max_quota: 2 * GIB })
    const operator = await app.operator('admin')
    const { path } = await insertMailbox(app, acme, { storage_quota: 0 })
    expect((await operator.put(`${path}/quotas`, { storage_quota: 2 * GIB })).status).toBe(400)
  })
})
