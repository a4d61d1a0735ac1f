import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../../test/support/app.ts'

const PATH = '/api/v1/webhooks/deliveries'
const DELIVERED = '2026-05-01T10:00:01.000Z'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let platformKey: Client

const attempt = (id: string, created_at: string, more: object = {}) => ({
  id,
  event_id: `event-${id}`,
  event_type: 'email.delivered',
  endpoint_id: null,
  webhook_url: 'https://hooks.host.test/',
  organization_id: acme.organizationId,
  message_id: null,
  delivery_status: 'delivered' as const,
  http_status_code: 200,
  attempts: 1,
  error_message: null,
  created_at,
  delivered_at: null,
  ...more,
})

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  platformKey = await app.key(null, { scope: 'platform' })
  await app.core.db
    .insertInto('webhook_deliveries')
    .values([
      attempt('a', '2026-05-01T10:00:00.000Z', { delivered_at: DELIVERED, endpoint_id: 'e1' }),
      attempt('b', '2026-05-02T00:00:00.000Z', {
        delivery_status: 'retrying',
        http_status_code: 0,
        error_message: 'Timeout',
        message_id: '<one@acme.test>',
      }),
      attempt('c', '2026-05-02T23:59:59.999Z', {
        delivery_status: 'failed',
        http_status_code: 500,
        attempts: 8,
        event_type: 'domain.added',
      }),
      attempt('d', '2026-05-02T23:59:59.999Z', { delivery_status: 'abandoned' }),
      attempt('e', '2026-05-03T00:00:00.000Z', { organization_id: globex.organizationId }),
      attempt('f', '2026-05-04T00:00:00.000Z', { organization_id: null }),
    ])
    .execute()
})
afterAll(() => app.stop())

const ids = async (who: Client, query = '') => {
  const answer = await who.get(`${PATH}?${query}`)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Delivery log retrieved' } })
  return answer.body.data.items.map(({ id }: { id: string }) => id).join('')
}

describe('the delivery log', () => {
  it.each([
    ['status=lost', 'status must be one of pending, delivered, failed, retrying, abandoned'],
    ['status=', 'status must be one of pending, delivered, failed, retrying, abandoned'],
    ['date_from=yesterday', 'date_from/date_to must be ISO dates or datetimes'],
    ['date_to=2026-02-30', 'date_from/date_to must be ISO dates or datetimes'],
    ['page=0', 'page must be at least 1'],
  ])('rejects the filter %s', async (query, msg) => {
    expect(await acme.get(`${PATH}?${query}`)).toMatchObject({
      status: 422,
      body: { type: 'error', msg },
    })
  })

  it('shows one row per attempt, with the documented fields and no others', async () => {
    const { items, pagination } = (await acme.get(`${PATH}?endpoint_id=e1`)).body.data
    expect(items).toEqual([
      {
        id: 'a',
        event_id: 'event-a',
        event_type: 'email.delivered',
        endpoint_id: 'e1',
        webhook_url: 'https://hooks.host.test/',
        delivery_status: 'delivered',
        http_status_code: 200,
        attempts: 1,
        error_message: null,
        created_at: '2026-05-01T10:00:00.000Z',
        delivered_at: DELIVERED,
      },
    ])
    expect(pagination).toEqual({ page: 1, per_page: 50, total: 1, total_pages: 1 })
  })

  it.each([
    ['', 'dcba'],
    ['per_page=3&page=2', 'a'],
    ['status=Delivered', 'a'],
    ['status=retrying', 'b'],
    ['status=pending', ''],
    ['event_id=event-c', 'c'],
    ['event_id=event-e', ''],
    ['event_type=domain.added', 'c'],
    ['event_type=domain', ''],
    ['message_id=%3Cone@acme.test%3E', 'b'],
    ['date_from=2026-05-02', 'dcb'],
    ['date_to=2026-05-01', 'a'],
    ['date_from=2026-05-02&date_to=2026-05-02', 'dcb'],
    ['date_to=2026-05-02T00:00:00Z', 'ba'],
    ['status=failed&event_type=domain.added&date_from=2026-05-02', 'c'],
  ])('lists attempts newest first: %s', async (query, expected) => {
    expect(await ids(acme, query)).toBe(expected)
  })

  it('shows a tenant its own rows only, even if it names another organization; the platform sees all', async () => {
    expect(await ids(globex)).toBe('e')
    expect(await ids(globex, `organization_id=${acme.organizationId}`)).toBe('e')
    expect(await ids(globex, 'endpoint_id=e1')).toBe('')
    expect(await ids(platformKey)).toBe('fedcba')
    expect(await ids(platformKey, `organization_id=${globex.organizationId}`)).toBe('e')
  })
})

describe('a webhook delivery', () => {
  beforeAll(async () => {
    await app.core.db
      .insertInto('events')
      .values({
        id: 'event-a',
        event: 'email.delivered',
        source: 'mail',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: { message_id: '<one@acme.test>' },
        created_at: '2026-05-01T10:00:00.000Z',
      })
      .execute()
  })

  it('has the envelope that was sent, without its signature', async () => {
    const { status, body } = await acme.get(`${PATH}/a`)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      id: 'a',
      event_id: 'event-a',
      delivery_status: 'delivered',
      payload: {
        id: 'event-a',
        event: 'email.delivered',
        org_id: acme.organizationId,
        data: { message_id: '<one@acme.test>' },
      },
    })
    expect(body.data.payload).not.toHaveProperty('signature')
  })

  it('has no envelope once the event is deleted, and for a tenant none of the global URL', async () => {
    expect((await platformKey.get(`${PATH}/c`)).body.data).toMatchObject({
      webhook_url: 'https://hooks.host.test/',
      payload: null,
    })
    expect((await acme.get(`${PATH}/c`)).body.data).toMatchObject({
      webhook_url: 'the webhook URL of the platform',
      payload: null,
    })
  })

  it("is 404 for another organization's delivery and an unknown id", async () => {
    for (const [who, id] of [
      [globex, 'a'],
      [acme, 'e'],
      [acme, 'f'],
      [acme, 'nothing'],
    ] as const) {
      expect(await who.get(`${PATH}/${id}`)).toMatchObject({
        status: 404,
        body: { msg: 'Webhook delivery not found' },
      })
    }
  })
})
