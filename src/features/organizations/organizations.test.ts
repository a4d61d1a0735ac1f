import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  admin = await app.operator('admin')
})
afterAll(() => app.stop())

const path = '/api/v1/organizations/'
const create = (body: object) => admin.post(path, body)
const eventsOf = async (organizationId: string) =>
  (
    await app.core.db
      .selectFrom('events')
      .selectAll()
      .where('org_id', '=', organizationId)
      .orderBy('sequence')
      .execute()
  ).map(({ event }) => event)

describe('creating an organization', () => {
  it('returns every problem at once', async () => {
    expect(
      await create({ id: 'no spaces', name: '', admin_email: 'nobody', sending_profile: 'spam' }),
    ).toMatchObject({
      status: 400,
      body: {
        msg: 'Validation failed',
        data: {
          errors: [
            'Organization ID must contain only alphanumeric characters, hyphens, and underscores',
            'Organization name is required',
            'Invalid admin email format',
            'sending_profile must be one of: transactional, marketing, both',
          ],
        },
      },
    })
    expect((await create({ name: 'x' })).body.data.errors).toEqual(['Organization ID is required'])
    expect((await create({ id: 'x'.repeat(27), name: 'x' })).status).toBe(400)
  })

  it('stores text unchanged and never returns the webhook secret', async () => {
    const name = 'Müller & Söhne <b>"GmbH"</b>'
    const answer = await create({
      id: 'mueller',
      name,
      external_id: 'crm-1',
      webhook_secret: 'hush-hush-hush',
    })
    expect(answer).toMatchObject({
      status: 201,
      body: { msg: 'Organization created successfully', data: { id: 'mueller', name } },
    })
    expect(answer.text).not.toContain('hush')
    const row = await app.core.db
      .selectFrom('organizations')
      .selectAll()
      .where('id', '=', 'mueller')
      .executeTakeFirstOrThrow()
    expect(row.webhook_secret?.toString('latin1')).not.toContain('hush')
    expect(await eventsOf('mueller')).toEqual(['org.created'])
    const audited = await app.core.db
      .selectFrom('operator_audit')
      .selectAll()
      .where('action', '=', 'create_organization')
      .execute()
    expect(JSON.stringify(audited)).not.toContain('hush')
  })

  it('rejects an existing id or external id, also for concurrent requests', async () => {
    expect(await create({ id: 'mueller', name: 'x' })).toMatchObject({
      status: 409,
      body: { msg: 'Organization with this ID already exists' },
    })
    expect(await create({ id: 'other', name: 'x', external_id: 'crm-1' })).toMatchObject({
      status: 409,
      body: { msg: 'Organization with this external ID already exists' },
    })
    const race = await Promise.all(
      Array.from({ length: 5 }, () => create({ id: 'race', name: 'x' })),
    )
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })

  it('accepts several organizations without an external id', async () => {
    expect((await create({ id: 'none-1', name: 'x', external_id: null })).status).toBe(201)
    expect((await create({ id: 'none-2', name: 'x', external_id: null })).status).toBe(201)
    expect((await admin.put(`${path}none-2`, { external_id: null })).status).toBe(200)
  })
})

describe('reading organizations', () => {
  it('returns to a tenant only its own organization, with its domains', async () => {
    const own = await acme.get(`${path}${acme.organizationId}`)
    expect(own.body.data).toMatchObject({
      id: acme.organizationId,
      domain_count: 1,
      email_account_count: 1,
      domains: [{ domain: 'acme.test', total_email_accounts: 1 }],
      storage_statistics: { total_storage_used: 0, total_quota: 10737418240, usage_percentage: 0 },
    })
    for (const route of ['', '/quotas']) {
      expect(await acme.get(`${path}${globex.organizationId}${route}`)).toMatchObject({
        status: 404,
        body: { msg: 'Organization not found' },
      })
    }
    expect((await acme.get(`${path}by-external-id/crm-1`)).status).toBe(404)
    expect((await admin.get(`${path}by-external-id/crm-1`)).body.data.id).toBe('mueller')
  })

  it('finds organizations by name, id, external id, domain and mailbox', async () => {
    const found = async (q: string) =>
      (await admin.get(`${path}?q=${encodeURIComponent(q)}`)).body.data.items.map(
        (item: { name: string }) => item.name,
      )
    expect(await found('üller & S')).toEqual(['Müller & Söhne <b>"GmbH"</b>'])
    expect(await found('crm-')).toHaveLength(1)
    expect(await found(acme.organizationId)).toEqual(['acme'])
    expect(await found('globex.te')).toEqual(['globex'])
    expect(await found('Admin@Globex.test')).toEqual(['globex'])
    expect(await found('100%')).toEqual([])
  })

  it('sorts, filters and pages in a stable order', async () => {
    const page = (query: string) => admin.get(`${path}?${query}`)
    const all = (await page('sort_by=email_account_count&sort_dir=desc&per_page=2')).body.data
    expect(
      all.items.map((item: { email_account_count: number }) => item.email_account_count),
    ).toEqual([1, 1])
    expect(all.pagination).toMatchObject({
      page: 1,
      per_page: 2,
      total_pages: Math.ceil(all.pagination.total / 2),
    })
    const ids = []
    for (let n = 1; n <= all.pagination.total_pages; n++) {
      ids.push(
        ...(await page(`per_page=2&page=${n}`)).body.data.items.map(
          (item: { id: string }) => item.id,
        ),
      )
    }
    expect(new Set(ids).size).toBe(all.pagination.total)
    expect((await page('over_quota=true')).body.data.items).toEqual([])
    expect(await page('sort_by=size')).toMatchObject({
      status: 422,
      body: {
        msg: 'sort_by must be one of name, created_at, domain_count, email_account_count, total_storage_used',
      },
    })
    expect(await page('sort_dir=up')).toMatchObject({
      status: 422,
      body: { msg: "sort_dir must be 'asc' or 'desc'" },
    })
    expect(await page('active=maybe')).toMatchObject({
      status: 422,
      body: { msg: "active must be 'true' or 'false'" },
    })
  })
})

describe('changing an organization', () => {
  it('ignores limits, suspension and sending profile sent by a tenant', async () => {
    const answer = await acme.put(`${path}${acme.organizationId}`, {
      description: 'ours',
      active: false,
      storage_quotas: { storage_quota_mb: 9e9 },
      rate_limits: { outbound_hourly: 9e9 },
      sending_profile: 'marketing',
    })
    expect(answer.body.data).toMatchObject({
      description: 'ours',
      active: true,
      storage_quotas: {},
      rate_limits: {},
      sending_profile: 'transactional',
    })
    expect(
      (await globex.put(`${path}${acme.organizationId}`, { description: 'theirs' })).status,
    ).toBe(404)
    expect(await acme.put(`${path}${acme.organizationId}`, {})).toMatchObject({
      status: 400,
      body: { msg: 'No data provided' },
    })
  })

  it('rejects keys and sessions of a suspended organization at once and accepts them after activation', async () => {
    const tenant = await app.tenant('paused')
    const dashboard = await app.dashboard(tenant.email)
    expect((await tenant.get('/api/v1/auth/me')).status).toBe(200)
    await admin.put(`${path}${tenant.organizationId}`, { active: false })
    expect(await tenant.get('/api/v1/auth/me')).toMatchObject({
      status: 401,
      body: { msg: 'Invalid API key' },
    })
    expect((await dashboard.get('/api/v1/auth/me')).status).toBe(401)
    expect((await app.dashboard(tenant.email)).login.status).toBe(401)
    await admin.put(`${path}${tenant.organizationId}`, { active: true })
    expect((await tenant.get('/api/v1/auth/me')).status).toBe(200)
    expect((await dashboard.get('/api/v1/auth/me')).status).toBe(200)
    expect(await eventsOf(tenant.organizationId)).toEqual([
      'org.updated',
      'org.suspended',
      'org.updated',
      'org.activated',
    ])
  })
})

describe('quotas of an organization', () => {
  it('limit the sum over the domains, and cannot be set below it', async () => {
    const tenant = await app.tenant('bounded')
    const quotas = `${path}${tenant.organizationId}/quotas`
    expect(await admin.put(quotas, { storage_quotas: { storage_quota_mb: 1 } })).toMatchObject({
      status: 400,
    })
    expect(await admin.put(quotas, {})).toMatchObject({
      status: 400,
      body: { msg: 'No quota data provided' },
    })
    const set = await admin.put(quotas, { storage_quotas: { storage_quota_mb: 15 * 1024 } })
    expect(set.body.data).toMatchObject({
      organization_id: tenant.organizationId,
      quota_override: true,
      quota_override_by: admin.email,
    })
    const second = await tenant.post('/api/v1/domains/', { domain: 'bounded-2.test' })
    expect(second.body.data.max_quota).toBe(5 * 1024 ** 3)
    expect(await tenant.post('/api/v1/domains/', { domain: 'bounded-3.test' })).toMatchObject({
      status: 400,
    })
    const raise = await tenant.put(`/api/v1/domains/${second.body.data.id}`, {
      max_quota: 6 * 1024 ** 3,
    })
    expect(raise).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('storage quota exceeded') },
    })
    expect((await tenant.get(quotas)).body.data.storage_summary).toMatchObject({
      total_quota: 15 * 1024 ** 3,
    })
  })

  it('limit concurrent additions of domains', async () => {
    const tenant = await app.tenant('rush')
    await admin.put(`${path}${tenant.organizationId}/quotas`, {
      storage_quotas: { storage_quota_mb: 12 * 1024 },
    })
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        tenant.post('/api/v1/domains/', {
          domain: `rush-${index}.test`,
          max_quota: 1024 ** 3,
          dkim_enabled: false,
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400])
  })

  it('are no override when an operator writes them with force (B7.5)', async () => {
    const quotas = `${path}${acme.organizationId}/quotas`
    const rate_limits = { outbound_hourly: 20 }
    expect((await admin.put(quotas, { rate_limits })).body.data.quota_override).toBe(true)
    const forced = await admin.put(`${quotas}?force=true`, { rate_limits })
    expect(forced.body.data).toMatchObject({
      rate_limits,
      quota_override: false,
      quota_override_at: null,
      quota_override_by: null,
    })
  })

  it('keep their values when an override is cleared, which may be repeated', async () => {
    const clear = `${path}${acme.organizationId}/quotas/clear-override`
    await admin.put(`${path}${acme.organizationId}/quotas`, {
      rate_limits: { outbound_hourly: 10 },
    })
    expect((await admin.post(clear, {})).status).toBe(422)
    for (let i = 0; i < 2; i++) {
      expect((await admin.post(clear, { reason: 'agreed' })).body.data).toEqual({
        organization_id: acme.organizationId,
        quota_override: false,
      })
    }
    expect((await acme.get(`${path}${acme.organizationId}`)).body.data).toMatchObject({
      rate_limits: { outbound_hourly: 10 },
      quota_override: false,
      quota_override_by: null,
    })
  })
})

describe('deleting an organization', () => {
  it('is rejected while it has domains or mailboxes', async () => {
    expect(await admin.delete(`${path}${globex.organizationId}`)).toMatchObject({
      status: 400,
      body: {
        msg: 'Cannot delete organization with 1 domains and 1 email accounts. Delete them first.',
      },
    })
  })

  it('deletes its API keys', async () => {
    await create({ id: 'short-lived', name: 'x' })
    const key = await app.key('short-lived')
    expect((await key.get('/api/v1/auth/me')).status).toBe(200)
    expect(await admin.delete(`${path}short-lived`)).toMatchObject({
      status: 200,
      body: { msg: 'Organization deleted successfully' },
    })
    expect((await key.get('/api/v1/auth/me')).status).toBe(401)
    expect((await admin.delete(`${path}short-lived`)).status).toBe(404)
  })
})
