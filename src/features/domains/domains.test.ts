import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  operator = await app.operator('operator')
})
afterAll(() => app.stop())

const path = '/api/v1/domains/'
// Making a key takes a moment; only what is about keys pays for it.
const plain = { dkim_enabled: false }
const create = (domain: unknown, more: object = {}) =>
  acme.post(path, { ...plain, domain, ...more })
const eventsOf = async (id: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()).filter(
    ({ data }) => (data as { domain_id?: string }).domain_id === id,
  )

describe('adding a domain', () => {
  it('returns the DNS records to publish and emits an event', async () => {
    const answer = await acme.post(path, {
      domain: 'Shop.Test',
      organization_id: globex.organizationId,
    })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        msg: 'Domain created successfully',
        data: {
          domain: 'shop.test',
          organization_id: acme.organizationId,
          active: true,
          verified_at: null,
          max_quota: 10737418240,
          max_users: 1000,
          dkim_selector: 'default',
          dkim_dns_name: 'default._domainkey.shop.test',
          dkim_record: expect.stringMatching(/^v=DKIM1; k=rsa; p=MII/),
        },
      },
    })
    const { id, dns_records } = answer.body.data
    expect(
      dns_records.map(({ type, name }: { type: string; name: string }) => `${type} ${name}`),
    ).toEqual([
      'MX shop.test',
      'TXT shop.test',
      'TXT _dmarc.shop.test',
      'TXT default._domainkey.shop.test',
      'TXT _mta-sts.shop.test',
      'CNAME mta-sts.shop.test',
      'TXT _smtp._tls.shop.test',
      'CNAME autoconfig.shop.test',
      'CNAME autodiscover.shop.test',
      'SRV _autodiscover._tcp.shop.test',
      'SRV _imaps._tcp.shop.test',
      'SRV _submissions._tcp.shop.test',
      'SRV _submission._tcp.shop.test',
      'SRV _pop3s._tcp.shop.test',
      'TXT _mailplane.shop.test',
    ])
    expect(dns_records[0]).toMatchObject({ value: 'mail.localhost.', priority: 10 })
    expect(await eventsOf(id)).toMatchObject([
      {
        event: 'domain.added',
        org_id: acme.organizationId,
        domain: 'shop.test',
        data: { domain: 'shop.test' },
      },
    ])
  })

  it('enables tracking by default, and the setting can be changed', async () => {
    const one = (await create('tracked.test')).body.data
    expect(one.tracking_enabled).toBe(true)
    const two = (await create('untracked.test', { tracking_enabled: false })).body.data
    expect(two.tracking_enabled).toBe(false)
    const shown = async () => (await acme.get(`${path}${one.id}`)).body.data.tracking_enabled
    const change = (tracking_enabled: unknown) => acme.put(`${path}${one.id}`, { tracking_enabled })
    expect((await change('off')).status).toBe(400)
    expect(await shown()).toBe(true)
    expect((await change(false)).body.data.tracking_enabled).toBe(false)
    expect(await shown()).toBe(false)
    expect((await eventsOf(one.id)).at(-1)).toMatchObject({
      event: 'domain.updated',
      data: { updated_fields: ['tracking_enabled'] },
    })
    expect((await globex.put(`${path}${one.id}`, { tracking_enabled: true })).status).toBe(404)
  })

  it.each([
    ['münchen.test', 'xn--mnchen-3ya.test', 'münchen.test'],
    ['XN--MNCHEN-3YA.example', 'xn--mnchen-3ya.example', 'münchen.example'],
    ['trailing.dot.test.', 'trailing.dot.test', 'trailing.dot.test'],
    ['ａｃｍｅ-wide.test', 'acme-wide.test', 'acme-wide.test'],
  ])('stores %s as %s and returns ASCII and Unicode', async (sent, domain, domain_unicode) => {
    const { status, body } = await create(sent)
    expect(status).toBe(201)
    expect(body.data).toMatchObject({ domain, domain_unicode })
  })

  it.each([
    ['', 'Domain name is required'],
    [7, 'Domain name is required'],
    ['localhost', 'Invalid domain name format'],
    ['co.uk', 'Invalid domain name format'],
    ['com', 'Invalid domain name format'],
    ['192.0.2.1', 'Invalid domain name format'],
    ['a..test', 'Invalid domain name format'],
    ['-a.test', 'Invalid domain name format'],
    ['a_b.test', 'Invalid domain name format'],
    ['a b.test', 'Invalid domain name format'],
    ['a@b.test', 'Invalid domain name format'],
    ["a'; drop table domains; --.test", 'Invalid domain name format'],
    [`${'a'.repeat(64)}.test`, 'Invalid domain name format'],
    [`${'a.'.repeat(130)}test`, 'Invalid domain name format'],
    ['a\u0007.test', 'Invalid domain name format'],
    ['xn--\u200d.test', 'Invalid domain name format'],
  ])('rejects the name %j', async (domain, problem) => {
    expect(await create(domain)).toMatchObject({
      status: 400,
      body: { msg: 'Validation failed', data: { errors: [problem] } },
    })
  })

  it('keeps Cyrillic letters apart from the Latin letters they resemble', async () => {
    const { body } = await create('асме.test')
    expect(body.data.domain).toMatch(/^xn--/)
    expect(body.data.domain).not.toBe('acme.test')
  })

  it('returns every problem at once', async () => {
    const answer = await create('x.test', {
      max_quota: -1,
      max_users: 'many',
      dkim_selector: 'two.labels',
      active: 1,
    })
    expect(answer.body.data.errors).toEqual([
      'Max quota must be non-negative',
      'Max users must be a valid number',
      expect.stringContaining('DKIM selector must be a single label'),
      'active must be a boolean',
    ])
  })

  it('rejects an existing name, and returns the id only to its owner', async () => {
    const { id } = await app.hostedDomain(acme, { domain: 'taken.test' })
    expect(await create('TAKEN.test')).toMatchObject({
      status: 409,
      body: {
        error_code: 'DOMAIN_ALREADY_CLAIMED',
        msg: 'Domain taken.test already exists',
        data: { existing_id: id },
      },
    })
    const foreign = await globex.post(path, { domain: 'taken.test' })
    expect(foreign).toMatchObject({ status: 409, body: { error_code: 'DOMAIN_ALREADY_CLAIMED' } })
    expect(foreign.body.data).toBeUndefined()
    expect(foreign.text).not.toContain(id)
  })

  it('accepts one of many concurrent claims of each tenant', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 ? acme : globex).post(path, { ...plain, domain: 'contested.test' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409])
  })

  it('requires organization_id from a platform caller', async () => {
    expect(await operator.post(path, { ...plain, domain: 'platform.test' })).toMatchObject({
      status: 400,
      body: { msg: 'organization_id is required for a platform-scope caller' },
    })
    expect(
      await operator.post(path, { ...plain, domain: 'platform.test', organization_id: 'nope' }),
    ).toMatchObject({
      status: 404,
      body: { msg: 'Organization not found' },
    })
    const made = await operator.post(path, {
      ...plain,
      domain: 'platform.test',
      organization_id: globex.organizationId,
    })
    expect(made.body.data.organization_id).toBe(globex.organizationId)
  })

  it('rejects a duplicate external id but accepts several domains without one', async () => {
    await create('external-1.test', { external_id: 'x-1' })
    expect(await create('external-2.test', { external_id: 'x-1' })).toMatchObject({
      status: 409,
      body: { msg: 'Domain with this external_id already exists' },
    })
    expect((await create('external-3.test', { external_id: null })).status).toBe(201)
    expect((await create('external-4.test', { external_id: null })).status).toBe(201)
  })
})

describe('reading domains', () => {
  it('returns only the own domains to a tenant, for any organization_id', async () => {
    const own = await acme.get(`${path}?organization_id=${globex.organizationId}&per_page=200`)
    const owners = new Set(
      own.body.data.items.map((item: { organization_id: string }) => item.organization_id),
    )
    expect([...owners]).toEqual([acme.organizationId])
    expect(own.body.data.pagination.total).toBe(own.body.data.items.length)
    const narrowed = await operator.get(`${path}?organization_id=${globex.organizationId}`)
    expect(
      narrowed.body.data.items.every(
        (item: { organization_id: string }) => item.organization_id === globex.organizationId,
      ),
    ).toBe(true)
    expect(narrowed.body.data.items[0].organization_name).toBe('globex')
  })

  it('searches, filters and sorts domains', async () => {
    await create('findable.test', { active: false })
    const names = async (query: string) =>
      (await acme.get(`${path}?${query}`)).body.data.items.map(
        (item: { domain: string }) => item.domain,
      )
    expect(await names('q=FINDAB')).toEqual(['findable.test'])
    expect(await names('q=%25')).toEqual([])
    expect(await names('active=false')).toEqual(['findable.test'])
    const ascending = await names('sort_by=domain&per_page=200')
    expect(await names('sort_by=domain&sort_dir=desc&per_page=200')).toEqual(
      [...ascending].reverse(),
    )
    expect(await acme.get(`${path}?sort_by=owner`)).toMatchObject({
      status: 422,
      body: { msg: 'sort_by must be one of domain, created_at, total_storage_used' },
    })
  })

  it('returns a domain with its organization, DNS records and usage', async () => {
    const { body } = await acme.get(`${path}${acme.domainId}`)
    expect(body.data).toMatchObject({
      domain: 'acme.test',
      organization: { id: acme.organizationId },
      email_account_count: 1,
      usage_statistics: {
        account_usage_percentage: 0.1,
        storage_usage_percentage: 0,
        total_account_storage: 0,
      },
    })
    expect(body.data.email_accounts).toHaveLength(1)
  })

  it("returns 404 for another organization's domain on every route, and changes nothing", async () => {
    const id = globex.domainId
    const before = await globex.get(`${path}${id}`)
    const tries = [
      acme.get(`${path}${id}`),
      acme.get(`${path}${id}/quotas`),
      acme.put(`${path}${id}`, { description: 'mine now' }),
      acme.put(`${path}${id}/quotas`, { max_users: 1 }),
      acme.delete(`${path}${id}`),
    ]
    for (const answer of await Promise.all(tries)) {
      expect(answer).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
    }
    expect((await globex.get(`${path}${id}`)).body.data).toEqual(before.body.data)
  })
})

describe('changing a domain', () => {
  it('ignores a new name and a new organization', async () => {
    const { id } = (await create('fixed.test')).body.data
    const { body } = await acme.put(`${path}${id}`, {
      domain: 'other.test',
      organization_id: globex.organizationId,
      description: 'x',
    })
    expect(body.data).toMatchObject({
      domain: 'fixed.test',
      organization_id: acme.organizationId,
      description: 'x',
    })
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      event: 'domain.updated',
      data: { updated_fields: ['description'] },
    })
    expect(await acme.put(`${path}${id}`, {})).toMatchObject({
      status: 400,
      body: { msg: 'No data provided' },
    })
  })

  it('rejects a quota below the sum of its mailboxes', async () => {
    const refused = await acme.put(`${path}${acme.domainId}`, { max_quota: 1024 })
    expect(refused).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('already allotted') },
    })
    expect((await acme.put(`${path}${acme.domainId}`, { max_quota: 1024 ** 3 })).status).toBe(200)
    await acme.put(`${path}${acme.domainId}`, { max_quota: 10 * 1024 ** 3 })
  })
})

describe('quotas of a domain', () => {
  it('are returned with usage and accounts, and can be changed', async () => {
    const { body } = await acme.get(`${path}${acme.domainId}/quotas`)
    expect(body.data).toMatchObject({
      domain: 'acme.test',
      storage_used: 0,
      usage_percentage: 0,
      email_accounts: [{ email: 'admin@acme.test', usage_percentage: 0 }],
    })
    expect(await acme.put(`${path}${acme.domainId}/quotas`, {})).toMatchObject({
      status: 400,
      body: { msg: 'No quota data provided' },
    })
    expect(await acme.put(`${path}${acme.domainId}/quotas`, { description: 'x' })).toMatchObject({
      status: 400,
      body: { msg: 'No quota data provided' },
    })
    expect(
      (await acme.put(`${path}${acme.domainId}/quotas`, { max_users: 50 })).body.data,
    ).toMatchObject({ max_users: 50, quota_override: false })
  })

  it('set by an operator are an override until an operator writes with force', async () => {
    const { id } = (await create('override.test')).body.data
    const quotas = `${path}${id}/quotas`
    expect((await operator.put(quotas, { max_users: 5 })).body.data.quota_override).toBe(true)
    for (const attempt of [
      acme.put(quotas, { max_users: 500 }),
      acme.put(`${quotas}?force=true`, { max_users: 500 }),
      acme.put(`${path}${id}`, { max_users: 500 }),
    ]) {
      expect(await attempt).toMatchObject({
        status: 409,
        body: { msg: expect.stringContaining(`Quota override in place: set by ${operator.email}`) },
      })
    }
    expect((await acme.put(`${path}${id}`, { description: 'still mine' })).status).toBe(200)
    expect(
      (await operator.put(`${quotas}?force=true`, { max_users: 6 })).body.data.quota_override,
    ).toBe(false)
    expect((await acme.put(quotas, { max_users: 7 })).body.data.max_users).toBe(7)
  })
})

describe('deleting a domain', () => {
  it('is rejected while it has mailboxes', async () => {
    expect(await acme.delete(`${path}${acme.domainId}`)).toMatchObject({
      status: 400,
      body: { msg: 'Cannot delete domain with 1 email accounts. Delete them first.' },
    })
  })

  it('frees the name for other organizations', async () => {
    const { id } = (await create('freed.test')).body.data
    expect(await acme.delete(`${path}${id}`)).toMatchObject({
      status: 200,
      body: { msg: 'Domain deleted successfully' },
    })
    expect((await acme.delete(`${path}${id}`)).status).toBe(404)
    expect((await globex.post(path, { ...plain, domain: 'freed.test' })).status).toBe(201)
    expect((await eventsOf(id)).map(({ event }) => event)).toEqual([
      'domain.added',
      'domain.deleted',
    ])
  })
})
