import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../../test/support/app.ts'
import { ENDPOINT_SECRET } from './endpoints.rules.ts'

const PATH = '/api/v1/webhooks/endpoints'
const URL_SENT = 'https://hooks.acme.test/mail'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let platformKey: Client
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  platformKey = await app.key(null, { scope: 'platform' })
})
afterAll(() => app.stop())

const create = async (body: object = {}, who: Client = acme) => {
  const answer = await who.post(PATH, { url: URL_SENT, ...body })
  expect(answer.status).toBe(201)
  return answer.body.data as { id: string; url: string; secret: string; active: boolean }
}
const rowOf = (id: string) =>
  app.core.db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const secretOf = async (id: string) =>
  app.core.vault.open(ENDPOINT_SECRET, Buffer.from((await rowOf(id)).secret))
const eventsOf = async (id: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()).filter(
    ({ data }) => (data as { endpoint_id?: string }).endpoint_id === id,
  )

const REFUSED: [object, string][] = [
  [{ url: '' }, 'url is required'],
  [{ url: null }, 'url is required'],
  [{ url: '   ' }, 'url is required'],
  [{ url: 7 }, 'url must be a string'],
  [{ url: 'ftp://hooks.acme.test' }, 'url must start with http:// or https://'],
  [{ url: 'hooks.acme.test' }, 'url must start with http:// or https://'],
  [{ url: 'https://' }, 'url is not a valid URL'],
  [{ url: `https://a.test/${'x'.repeat(1000)}` }, 'url must be 1000 characters or less'],
  [{ event_types: 'email.delivered' }, 'event_types must be a list or null'],
  [{ event_types: {} }, 'event_types must be a list or null'],
  [{ event_types: [1] }, 'event_types entries must be non-empty strings'],
  [{ event_types: [' '] }, 'event_types entries must be non-empty strings'],
  [{ active: 1 }, 'active must be a boolean'],
  [{ name: 'x'.repeat(256) }, 'name must be 255 characters or less'],
  [{ name: 7 }, 'name must be a string'],
  [{ description: [] }, 'description must be a string'],
  [{ secret: 7 }, 'secret must be a non-empty string'],
  [{ secret: 'x'.repeat(513) }, 'secret must be 512 characters or less'],
]

describe('registering a webhook endpoint', () => {
  it.each(REFUSED)('rejects the fields %j', async (body, msg) => {
    expect(await acme.post(PATH, { url: URL_SENT, ...body })).toMatchObject({
      status: 400,
      body: { type: 'error', msg },
    })
  })

  it.each([undefined, {}, [], { active: true }])('requires a url: %j', async (body) => {
    expect(await acme.call('POST', PATH, body)).toMatchObject({
      status: 400,
      body: { msg: 'url is required' },
    })
  })

  it('generates a secret, shows it once and stores it sealed', async () => {
    const answer = await acme.post(PATH, { url: `  ${URL_SENT}  ` })
    expect(answer).toMatchObject({ status: 201, body: { msg: 'Webhook endpoint created' } })
    const { id, secret } = answer.body.data
    expect(answer.body.data).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      organization_id: acme.organizationId,
      url: URL_SENT,
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      active: true,
    })
    expect(await secretOf(id)).toBe(secret)
    expect(Buffer.from((await rowOf(id)).secret).includes(secret)).toBe(false)
    for (const path of [PATH, `${PATH}/${id}`]) {
      const { text } = await acme.get(path)
      expect(text).toContain(id)
      expect(text).not.toContain('secret')
    }
    expect((await acme.get(`${PATH}/${id}`)).body.data).toEqual({
      id,
      organization_id: acme.organizationId,
      url: URL_SENT,
      name: 'webhook',
      description: '',
      active: true,
      event_types: [],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
  })

  it('stores and returns the fields that were sent', async () => {
    const settings = {
      name: 'Reports',
      description: '<b>Delivery</b> & more',
      active: false,
      event_types: ['email.delivered', 'not.yet.known'],
    }
    const created = await create({ ...settings, secret: 'chosen' })
    expect(created).toMatchObject({ secret: 'chosen', active: false })
    expect(await secretOf(created.id)).toBe('chosen')
    expect((await acme.get(`${PATH}/${created.id}`)).body.data).toMatchObject(settings)
  })

  it('stores null event_types as null, which reads as an empty list', async () => {
    const { id } = await create({ event_types: null })
    expect((await rowOf(id)).event_types).toBeNull()
    expect((await acme.get(`${PATH}/${id}`)).body.data.event_types).toEqual([])
  })

  it('emits webhook.test', async () => {
    const { id } = await create()
    expect(await eventsOf(id)).toMatchObject([
      {
        event: 'webhook.test',
        source: 'api',
        org_id: acme.organizationId,
        data: { endpoint_id: id, url: URL_SENT, action: 'created' },
      },
    ])
  })

  it('returns the same endpoint and secret for one Idempotency-Key', async () => {
    const once = { headers: { 'idempotency-key': 'register-once' } }
    const body = { url: 'https://once.acme.test/' }
    const first = await acme.post(PATH, body, once)
    const again = await acme.post(PATH, body, once)
    expect(again).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' } })
    expect(again.body).toEqual(first.body)
    const rows = await app.core.db
      .selectFrom('webhook_endpoints')
      .select('id')
      .where('url', '=', body.url)
      .execute()
    expect(rows).toHaveLength(1)
    expect(await eventsOf(first.body.data.id)).toHaveLength(1)
  })

  it('stores neither row nor event when the organization does not exist', async () => {
    const body = { url: 'https://lost.test/', organization_id: 'nobody' }
    expect(await platformKey.post(PATH, body)).toMatchObject({
      status: 404,
      body: { msg: 'Organization not found' },
    })
    expect((await platformKey.post(PATH, { ...body, organization_id: 7 })).status).toBe(404)
    const urls = (await platformKey.get(`${PATH}?per_page=200`)).body.data.items.map(
      (row: { url: string }) => row.url,
    )
    expect(urls).not.toContain(body.url)
  })
})

describe('the number of webhook endpoints', () => {
  it('is limited per organization, also for concurrent requests (S15)', async () => {
    const small = await startApp({ env: { WEBHOOK_MAX_ENDPOINTS: '3' } })
    const hooli = await small.tenant('hooli')
    const globex = await small.tenant('globex')
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => hooli.post(PATH, { url: URL_SENT })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      error_code: 'TOO_MANY_ENDPOINTS',
      msg: 'An organization can have 3 webhook endpoints at most; delete one that is not needed',
    })
    expect((await globex.post(PATH, { url: URL_SENT })).status).toBe(201)
    const { id } = answers.find(({ status }) => status === 201)?.body.data ?? {}
    expect((await hooli.delete(`${PATH}/${id}`)).status).toBe(200)
    expect((await hooli.post(PATH, { url: URL_SENT })).status).toBe(201)
    await small.stop()
  })
})

describe('changing a webhook endpoint', () => {
  it.each(REFUSED)('rejects the fields %j as for a new endpoint', async (body, msg) => {
    const { id } = await create()
    const before = await rowOf(id)
    expect(await acme.put(`${PATH}/${id}`, body)).toMatchObject({ status: 400, body: { msg } })
    expect(await rowOf(id)).toEqual(before)
  })

  it.each([
    [{}, 'No data provided'],
    [{ unheard_of: 'other' }, 'No valid fields to update'],
    [{ secret: '' }, 'secret must be a non-empty string'],
    [{ secret: null }, 'secret must be a non-empty string'],
  ])('rejects the fields %j', async (body, msg) => {
    const { id } = await create()
    expect(await acme.put(`${PATH}/${id}`, body)).toMatchObject({ status: 400, body: { msg } })
  })

  it('changes the fields that were sent and keeps the others', async () => {
    const { id, secret } = await create({ description: 'kept', event_types: ['a'] })
    app.clock.advance(1000)
    const answer = await acme.put(`${PATH}/${id}`, { url: ' http://new.test/ ', active: false })
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: 'Webhook endpoint updated', data: { id } },
    })
    const { data } = (await acme.get(`${PATH}/${id}`)).body
    expect(data).toMatchObject({
      url: 'http://new.test/',
      active: false,
      description: 'kept',
      event_types: ['a'],
    })
    expect(data.updated_at > data.created_at).toBe(true)
    expect(await secretOf(id)).toBe(secret)
  })

  it('replaces the secret without showing it, and accepts null for all events', async () => {
    const { id } = await create({ event_types: ['a'] })
    const body = { secret: 'replacement', event_types: null, description: null }
    const { text } = await acme.put(`${PATH}/${id}`, body)
    expect(text).not.toContain('replacement')
    expect(await secretOf(id)).toBe('replacement')
    expect(await rowOf(id)).toMatchObject({ event_types: null, description: '' })
  })
})

describe('deleting a webhook endpoint', () => {
  it('returns 404 the second time', async () => {
    const { id } = await create()
    const answer = await acme.delete(`${PATH}/${id}`)
    expect(answer.body).toEqual({ type: 'success', msg: 'Webhook endpoint deleted' })
    for (const gone of [await acme.get(`${PATH}/${id}`), await acme.delete(`${PATH}/${id}`)]) {
      expect(gone).toMatchObject({ status: 404, body: { msg: 'Webhook endpoint not found' } })
    }
  })
})

describe('testing a webhook endpoint', () => {
  it('rejects an inactive endpoint', async () => {
    const { id } = await create({ active: false })
    expect(await acme.call('POST', `${PATH}/${id}/test`)).toMatchObject({
      status: 404,
      body: { msg: 'Webhook endpoint not found or inactive' },
    })
    expect(await eventsOf(id)).toHaveLength(1)
  })

  it('emits an event even when no URL is configured', async () => {
    const { id } = await create()
    expect(await acme.call('POST', `${PATH}/${id}/test`)).toMatchObject({
      status: 200,
      body: { msg: 'Test event dispatched', data: { endpoint_id: id } },
    })
    const [, tested] = await eventsOf(id)
    expect(tested).toMatchObject({
      event: 'webhook.test',
      org_id: acme.organizationId,
      data: { endpoint_id: id, url: URL_SENT, test: true, timestamp: expect.any(String) },
    })
  })
})
