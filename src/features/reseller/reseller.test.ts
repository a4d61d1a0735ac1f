import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { ACCOUNTS } from '../../../test/support/mailboxes.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  admin = await app.operator('admin')
})
afterAll(() => app.stop())

const PATH = '/api/v1/reseller'
const GIGABYTE = 1024 ** 3
const open = (more: object = {}, parent = acme.organizationId) =>
  admin.post(`${PATH}/sub-organizations`, { parent_org_id: parent, name: 'Customer', ...more })
const plan = (id: string, body: object) => admin.put(`${PATH}/sub-organizations/${id}/plan`, body)
const eventsOf = async (id: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ org_id }) => org_id === id)
    .map(({ event, data }) => ({ event, data }))
let domains = 0
const addDomain = (key: Awaited<ReturnType<App['key']>>, more: object = {}) =>
  key.post('/api/v1/domains/', {
    domain: `d${++domains}.test`,
    dkim_enabled: false,
    max_quota: GIGABYTE,
    ...more,
  })

describe('the reseller API', () => {
  it.each([
    [{ name: '' }],
    [{ name: '   ' }],
    [{ admin_email: 'nobody' }],
    [{ max_users: -1 }],
    [{ max_domains: 1.5 }],
    [{ max_users: 3_000_000_000 }],
    [{ storage_limit: -1 }],
    [{ storage_limit: 9e18 }],
    [{ plan_name: '' }],
  ])('rejects a sub-organization with %j', async (wrong) => {
    expect((await open(wrong)).status).toBe(422)
  })

  it('rejects a parent that is unknown, suspended or itself a sub-organization', async () => {
    expect(await open({}, 'none')).toMatchObject({
      status: 404,
      body: { msg: 'Parent organization not found' },
    })
    const { id } = (await open()).body.data
    expect((await open({}, id)).status).toBe(409)
    const paused = await app.tenant('paused')
    await admin.put(`/api/v1/organizations/${paused.organizationId}`, { active: false })
    expect((await open({}, paused.organizationId)).status).toBe(409)
  })

  it('returns 404 for an organization that is not a sub-organization', async () => {
    const missing = { status: 404, body: { msg: 'Sub-organization not found' } }
    for (const id of [acme.organizationId, 'none']) {
      const path = `${PATH}/sub-organizations/${id}`
      expect(await admin.get(path)).toMatchObject(missing)
      expect(await admin.put(`${path}/plan`, { max_users: 1 })).toMatchObject(missing)
      expect(await admin.delete(path)).toMatchObject(missing)
    }
    expect((await acme.get('/api/v1/auth/me')).status).toBe(200)
  })

  it('prevents cycles of organizations in the database', async () => {
    const { id } = (await open()).body.data
    const belong = (child: string, parent: string) =>
      sql`update organizations set parent_organization_id = ${parent} where id = ${child}`.execute(
        app.core.db,
      )
    await expect(belong(acme.organizationId, id)).rejects.toThrow()
    await expect(belong(id, id)).rejects.toThrow()
  })

  it('rejects the deletion of an organization with sub-organizations', async () => {
    await admin.post('/api/v1/organizations/', { id: 'seller', name: 'seller' })
    await open({}, 'seller')
    expect(await admin.delete('/api/v1/organizations/seller')).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('sub-organizations') },
    })
  })
})

describe('the plan of a sub-organization', () => {
  it('has defaults and is part of the created event', async () => {
    const answer = await open({ name: '=1+1 <b>', admin_email: 'boss@customer.test' })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: {
          name: '=1+1 <b>',
          parent_organization_id: acme.organizationId,
          status: 'active',
          plan: {
            max_users: 50,
            max_domains: 5,
            storage_limit: 10 * GIGABYTE,
            plan_name: 'starter',
          },
        },
      },
    })
    const { id } = answer.body.data
    expect(await eventsOf(id)).toMatchObject([
      { event: 'org.created' },
      {
        event: 'reseller.account.created',
        data: { organization_id: id, parent_org_id: acme.organizationId, plan_name: 'starter' },
      },
      { event: 'user.invited', data: { email: 'boss@customer.test', role: 'owner' } },
    ])
  })

  it('leaves storage for every domain of the default plan (B7.7)', async () => {
    const key = await app.key((await open({})).body.data.id)
    const quotas: number[] = []
    for (let domain = 0; domain < 5; domain++) {
      const answer = await key.post('/api/v1/domains/', {
        domain: `share${domain}.test`,
        dkim_enabled: false,
      })
      expect(answer.status).toBe(201)
      quotas.push(answer.body.data.max_quota)
    }
    expect(quotas).toEqual(Array(5).fill(2 * GIGABYTE))
  })

  it('gives the first domains one gigabyte when there is not enough for all', async () => {
    const { id } = (await open({ max_domains: 100, storage_limit: 1.5 * GIGABYTE })).body.data
    const key = await app.key(id)
    const add = (domain: string) => key.post('/api/v1/domains/', { domain, dkim_enabled: false })
    expect((await add('one-of-many.test')).body.data.max_quota).toBe(GIGABYTE)
    expect((await add('two-of-many.test')).body.data.max_quota).toBe(GIGABYTE / 2)
    expect((await add('three-of-many.test')).body.msg).toContain('storage quota')
  })

  it('limits domains and storage under concurrent requests', async () => {
    const { id } = (await open({ max_domains: 2, storage_limit: 10 * GIGABYTE })).body.data
    const key = await app.key(id)
    const answers = await Promise.all(Array.from({ length: 6 }, () => addDomain(key)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.body.msg).toContain('number of domains')
    await plan(id, { max_domains: 10, storage_limit: 3 * GIGABYTE })
    expect((await addDomain(key, { max_quota: 2 * GIGABYTE })).body.msg).toContain('storage quota')
    expect((await addDomain(key)).status).toBe(201)
  })

  it('limits users across all domains under concurrent requests', async () => {
    const { id } = (await open({ max_users: 3 })).body.data
    const key = await app.key(id)
    const names = await Promise.all(
      [1, 2].map(async () => (await addDomain(key)).body.data.domain as string),
    )
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        key.post(ACCOUNTS, {
          email: `user${index}@${names[index % 2]}`,
          password: PASSWORD,
          name: 'x',
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.body.msg).toContain('number of users')
    expect(await plan(id, { max_users: 2 })).toMatchObject({
      status: 400,
      body: { msg: 'max_users cannot be below the 3 already in use' },
    })
    expect((await plan(id, { max_users: 3 })).status).toBe(200)
  })

  it('cannot be set below current usage or without a field', async () => {
    const { id } = (await open()).body.data
    await addDomain(await app.key(id))
    expect((await plan(id, { max_domains: 0 })).status).toBe(400)
    expect((await plan(id, { storage_limit: 1 })).status).toBe(400)
    expect(await plan(id, {})).toMatchObject({
      status: 400,
      body: { msg: 'No updatable fields provided' },
    })
    expect((await plan(id, { plan_name: 'gold' })).body.data.plan).toMatchObject({
      plan_name: 'gold',
      max_domains: 5,
    })
  })

  it('stays within the storage of the parent, which its own domains share', async () => {
    const seller = await app.tenant('bounded')
    const quotas = `/api/v1/organizations/${seller.organizationId}/quotas`
    // The domain of the parent already uses 10 GB of the 15 GB.
    await admin.put(quotas, { storage_quotas: { storage_quota_mb: 15 * 1024 } })
    const races = await Promise.all(
      Array.from({ length: 4 }, () => open({ storage_limit: 2 * GIGABYTE }, seller.organizationId)),
    )
    expect(races.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400])
    const { id } = races.find(({ status }) => status === 201)?.body.data ?? {}
    expect((await plan(id, { storage_limit: 3 * GIGABYTE })).status).toBe(200)
    expect(await plan(id, { storage_limit: 3 * GIGABYTE + 1 })).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining(`${3 * GIGABYTE} bytes left`) },
    })
    expect((await addDomain(seller as never)).status).toBe(400)
    const lowered = await admin.put(quotas, { storage_quotas: { storage_quota_mb: 14 * 1024 } })
    expect(lowered.status).toBe(400)
  })
})

describe('a sub-organization', () => {
  it('is deactivated and keeps its data when deleted; a second delete changes nothing', async () => {
    const { id } = (await open({ name: 'Late payer' })).body.data
    const key = await app.key(id)
    const domain = (await addDomain(key)).body.data.domain
    const path = `${PATH}/sub-organizations/${id}`
    expect((await admin.delete(path)).body.data).toMatchObject({ id, status: 'inactive' })
    expect((await admin.delete(path)).status).toBe(200)
    expect((await key.get('/api/v1/auth/me')).status).toBe(401)
    expect((await admin.get(path)).body.data).toMatchObject({
      status: 'inactive',
      domain_count: 1,
      domains: [{ domain }],
    })
    const { rows } = await sql`select edge.is_domain(${domain})`.execute(app.core.db)
    expect(rows).toEqual([])
    expect((await eventsOf(id)).filter(({ event }) => event.startsWith('reseller.'))).toMatchObject(
      [
        { event: 'reseller.account.created' },
        {
          event: 'reseller.account.suspended',
          data: { organization_id: id, parent_org_id: acme.organizationId, name: 'Late payer' },
        },
      ],
    )
  })

  it('is listed by parent and status, with pagination', async () => {
    const seller = await app.tenant('lister')
    for (const name of ['c', 'a', 'b']) await open({ name }, seller.organizationId)
    const list = async (query: string) =>
      (await admin.get(`${PATH}/sub-organizations?parent_org_id=${seller.organizationId}&${query}`))
        .body.data
    const names = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name)
    expect(names(await list(''))).toEqual(['a', 'b', 'c'])
    const second = await list('per_page=2&page=2')
    expect(names(second)).toEqual(['c'])
    expect(second.pagination).toMatchObject({ total: 3, total_pages: 2 })
    await admin.delete(`${PATH}/sub-organizations/${second.items[0].id}`)
    expect(names(await list('status=inactive'))).toEqual(['c'])
    const unknown = await admin.get(`${PATH}/sub-organizations?status=gone`)
    expect(unknown.status).toBe(422)
  })
})

it('returns reseller billing by sub-organization and plan, for one parent or all', async () => {
  const seller = await app.tenant('biller')
  const empty = await admin.get(`${PATH}/billing/summary?parent_org_id=none`)
  expect(empty.body.data).toMatchObject({
    parent_org_id: 'none',
    total_sub_organizations: 0,
    per_org_breakdown: [],
    by_plan: [],
  })
  const made = []
  for (const [name, plan_name] of [
    ['one', 'gold'],
    ['two', 'gold'],
    ['three', 'starter'],
  ]) {
    const answer = await open(
      { name, plan_name, storage_limit: 2 * GIGABYTE },
      seller.organizationId,
    )
    made.push(answer.body.data.id)
  }
  const key = await app.key(made[0])
  const { domain, id } = (await addDomain(key)).body.data
  await app.core.db
    .insertInto('email_accounts')
    .values({
      id: 'u1',
      organization_id: made[0],
      domain_id: id,
      email: `u1@${domain}`,
      password_hash: 'none',
      storage_used: 700,
    })
    .execute()
  await admin.delete(`${PATH}/sub-organizations/${made[1]}`)
  const { data } = (
    await admin.get(`${PATH}/billing/summary?parent_org_id=${seller.organizationId}`)
  ).body
  expect(data).toMatchObject({
    parent_org_id: seller.organizationId,
    total_sub_organizations: 3,
    total_active_sub_organizations: 2,
    total_users: 1,
    total_mailboxes: 1,
    total_domains: 1,
    total_storage_used: 700,
    total_storage_bytes: 700,
    total_storage_allocated: 6 * GIGABYTE,
    by_plan: [
      { plan_name: 'gold', count: 2 },
      { plan_name: 'starter', count: 1 },
    ],
  })
  expect(data.per_org_breakdown).toContainEqual({
    org_id: made[0],
    name: 'one',
    status: 'active',
    plan_name: 'gold',
    users: 1,
    domains: 1,
    storage_used: 700,
    storage_limit: 2 * GIGABYTE,
  })
  const all = (await admin.get(`${PATH}/billing/summary`)).body.data
  expect(all.parent_org_id).toBeNull()
  expect(all.total_sub_organizations).toBeGreaterThan(3)
})
