import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { waitFor } from '../../test/support/wait.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { webhooks } from './webhooks.ts'

const SECRET = 'a shared secret'
const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function setUp(env: Record<string, string> = {}) {
  const receiver = await startReceiver()
  cleanUps.push(receiver.stop)
  const app = await startApp({
    env: { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET, WEBHOOK_TIMEOUT: '10', ...env },
  })
  cleanUps.push(app.stop)
  const acme = await app.tenant('acme')
  return { receiver, app, acme }
}

const run = async (app: App) => {
  const daemon = await webhooks.start(app.core)
  let stopped = false
  const stop = async () => {
    if (!stopped) await daemon.stop()
    stopped = true
  }
  cleanUps.push(stop)
  return { ...daemon, stop }
}
const change = (acme: Awaited<ReturnType<App['tenant']>>, description: string) =>
  acme.put(`/api/v1/domains/${acme.domainId}`, { description })
const queued = async (app: App) =>
  (await app.core.db.selectFrom('webhook_queue').selectAll().execute()).length
const deliveries = (app: App) =>
  app.core.db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute()

describe('webhook delivery to the global URL', () => {
  it('sends the signed envelope once, logs the attempt and empties the queue', async () => {
    const { receiver, app, acme } = await setUp()
    await run(app)
    await change(acme, 'first')
    await waitFor(async () => receiver.got.length === 1 && (await queued(app)) === 0)
    const [{ headers, body, json }] = receiver.got as [(typeof receiver.got)[0]]
    expect(json).toMatchObject({
      event: 'domain.updated',
      source: 'api',
      org_id: acme.organizationId,
      domain: 'acme.test',
      tags: [],
      user_variables: {},
      metadata: {},
      data: { domain_id: acme.domainId, updated_fields: ['description'] },
    })
    expect(json.timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const hmac = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
    expect(headers).toMatchObject({
      'x-webhook-signature': `sha256=${hmac(body)}`,
      'x-webhook-id': json.id,
      'x-webhook-event': 'domain.updated',
      'x-webhook-source': 'api',
      'user-agent': 'Svc-Webhook/2.0',
      'content-type': 'application/json',
    })
    const { timestamp, token, signature } = json.signature
    expect(signature).toBe(hmac(`${timestamp}${token}`))
    expect(headers['x-webhook-timestamp']).toBe(String(timestamp))
    expect(await deliveries(app)).toMatchObject([
      {
        event_id: json.id,
        delivery_status: 'delivered',
        http_status_code: 200,
        attempts: 1,
        error_message: null,
      },
    ])
  })

  it('keeps the order of events about one thing that waited before the start', async () => {
    const { receiver, app, acme } = await setUp({ WEBHOOK_WORKERS: '8' })
    const names = Array.from({ length: 40 }, (_, index) => `change ${index}`)
    for (const name of names) await change(acme, name)
    const stored = await app.core.db.selectFrom('events').select('id').orderBy('sequence').execute()
    await run(app)
    await waitFor(async () => (await queued(app)) === 0)
    expect(receiver.got.map(({ json }) => json.id)).toEqual(stored.map(({ id }) => id))
  })

  it('retries with equal content and a new inline signature, then stores a dead letter', async () => {
    const { receiver, app, acme } = await setUp({
      WEBHOOK_RETRY_SCHEDULE: '0,0',
      WEBHOOK_MAX_RETRIES: '2',
    })
    receiver.state.reply = (_received, response) => response.writeHead(500).end('no')
    await run(app)
    await change(acme, 'unlucky')
    await waitFor(async () => (await queued(app)) === 0 && receiver.got.length === 3)
    const tokens = new Set(receiver.got.map(({ json }) => json.signature.token))
    expect(tokens.size).toBe(3)
    const contents = new Set(
      receiver.got.map(({ json }) => JSON.stringify({ ...json, signature: null })),
    )
    expect(contents.size).toBe(1)
    expect(
      (await deliveries(app)).map(({ delivery_status, attempts, error_message }) => [
        delivery_status,
        attempts,
        error_message,
      ]),
    ).toEqual([
      ['retrying', 1, 'HTTP 500: no'],
      ['retrying', 2, 'HTTP 500: no'],
      ['failed', 3, 'HTTP 500: no'],
    ])
    const dead = await app.core.db.selectFrom('webhook_dead_letters').selectAll().execute()
    expect(dead).toMatchObject([
      { attempt_count: 3, status: 'pending', payload: { id: receiver.got[0]?.json.id } },
    ])
  })

  it('sends a replayed dead letter again, with its own id', async () => {
    const { receiver, app, acme } = await setUp({ WEBHOOK_MAX_RETRIES: '0' })
    receiver.state.reply = (_received, response) => response.writeHead(500).end()
    await run(app)
    await change(acme, 'lost')
    await waitFor(async () => (await queued(app)) === 0)
    const operator = await app.operator('operator')
    const [letter] = (await operator.get('/api/v1/webhooks/dead-letters')).body.data.items
    receiver.state.reply = (_received, response) => response.end()
    const replayed = await operator.post(`/api/v1/webhooks/dead-letters/${letter.id}/replay`, {
      reason: 'the receiver is back',
    })
    expect(replayed.status).toBe(200)
    await waitFor(async () => receiver.got.length === 2 && (await queued(app)) === 0)
    const [first, second] = receiver.got.map(({ json }) => ({ ...json, signature: null }))
    expect(second).toEqual(first)
    const { items } = (await operator.get('/api/v1/webhooks/dead-letters')).body.data
    expect(items).toMatchObject([
      { id: letter.id, status: 'resolved', resolved_at: expect.any(String) },
    ])
  })

  it('abandons a dead letter whose replay fails and stores a new one (B5.2)', async () => {
    const { receiver, app, acme } = await setUp({ WEBHOOK_MAX_RETRIES: '0' })
    receiver.state.reply = (_received, response) => response.writeHead(500).end('internal text')
    await run(app)
    await change(acme, 'lost')
    await waitFor(async () => (await queued(app)) === 0)
    const operator = await app.operator('operator')
    const listed = async (who: Pick<typeof operator, 'get'>) =>
      (await who.get('/api/v1/webhooks/dead-letters')).body.data.items
    const [letter] = await listed(operator)
    const path = `/api/v1/webhooks/dead-letters/${letter.id}/replay`
    expect((await operator.post(path, { reason: 'the receiver is back' })).status).toBe(200)
    await waitFor(async () => receiver.got.length === 2 && (await queued(app)) === 0)
    expect(await listed(operator)).toMatchObject([
      { status: 'pending', endpoint_url: receiver.url, last_error: expect.stringMatching('text') },
      { id: letter.id, status: 'abandoned' },
    ])
    // The tenant reads neither the URL of the operator nor the answer of the receiver (B5.1).
    for (const one of await listed(acme)) {
      expect(one).toMatchObject({
        endpoint_url: 'the webhook URL of the platform',
        last_error: expect.stringMatching(/^Gave up after \d attempts$/),
      })
    }
    const log = (await acme.get('/api/v1/webhooks/deliveries')).body
    expect(log.data.items).toHaveLength(2)
    expect(log.data.items[0]).toMatchObject({ http_status_code: 500, error_message: 'HTTP 500' })
    expect(JSON.stringify(log)).not.toContain(receiver.url)
    expect(JSON.stringify(log)).not.toContain('internal text')
  })

  it('retries after the wait of the schedule', async () => {
    const { receiver, app, acme } = await setUp()
    receiver.state.reply = (_received, response) => response.writeHead(503).end()
    await run(app)
    await change(acme, 'later')
    await waitFor(async () => (await deliveries(app)).length === 1)
    const [row] = await app.core.db.selectFrom('webhook_queue').selectAll().execute()
    const seconds = (Date.parse(row?.due_at ?? '') - app.clock.now().getTime()) / 1000
    expect(row?.attempts).toBe(1)
    expect(seconds).toBeGreaterThan(590)
    expect(seconds).toBeLessThan(661)
    receiver.state.reply = (_received, response) => response.end()
    app.clock.advance(11 * MINUTE_MS)
    await waitFor(async () => (await queued(app)) === 0)
    expect(receiver.got).toHaveLength(2)
  })

  it('abandons an event after 406, without retry and dead letter', async () => {
    const { receiver, app, acme } = await setUp({ WEBHOOK_RETRY_SCHEDULE: '0' })
    receiver.state.reply = (_received, response) => response.writeHead(406).end()
    await run(app)
    await change(acme, 'unwanted')
    await waitFor(async () => (await queued(app)) === 0)
    expect(await deliveries(app)).toMatchObject([
      { delivery_status: 'abandoned', http_status_code: 406 },
    ])
    expect(await app.core.db.selectFrom('webhook_dead_letters').selectAll().execute()).toEqual([])
  })

  it.each<[string, string, Parameters<typeof startReceiver>[0]]>([
    ['hangs', 'Timeout', () => {}],
    [
      'resets the connection',
      'The connection was lost',
      (_received, response) => response.destroy(),
    ],
    [
      'redirects',
      'HTTP 302: ',
      (_received, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    ],
    [
      'sends one byte at a time',
      'Timeout',
      (_received, response) => {
        const timer = setInterval(() => response.write('x'), 50)
        response.on('close', () => clearInterval(timer))
      },
    ],
    [
      'never ends',
      'HTTP 500: xxx',
      (_received, response) => {
        response.writeHead(500)
        const timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 1)
        response.on('close', () => clearInterval(timer))
      },
    ],
  ])('retries when the receiver %s', async (_what, error, reply) => {
    const { receiver, app, acme } = await setUp(error === 'Timeout' ? { WEBHOOK_TIMEOUT: '1' } : {})
    if (reply) receiver.state.reply = reply
    await run(app)
    await change(acme, 'x')
    await waitFor(async () => (await deliveries(app)).length === 1)
    const [attempt] = await deliveries(app)
    expect(attempt).toMatchObject({ delivery_status: 'retrying' })
    expect(attempt?.error_message?.startsWith(error)).toBe(true)
    expect(await queued(app)).toBe(1)
    expect(receiver.got).toHaveLength(1)
  })

  it('sends each event once with two daemons, and after one of them has stopped', async () => {
    const { receiver, app, acme } = await setUp()
    const one = await run(app)
    await run(app)
    const tenants = await Promise.all(
      Array.from({ length: 10 }, (_, n) => app.tenant(`tenant-${n}`)),
    )
    for (const tenant of [acme, ...tenants]) await change(tenant, 'both')
    await waitFor(async () => (await queued(app)) === 0)
    await one.stop()
    for (const tenant of [acme, ...tenants]) await change(tenant, 'alone')
    await waitFor(async () => (await queued(app)) === 0)
    const ids = receiver.got.map(({ json }) => json.id)
    expect(ids).toHaveLength(22)
    expect(new Set(ids).size).toBe(22)
  })

  it('enqueues nothing for a change that is rolled back, nor without a receiver', async () => {
    const { app, acme } = await setUp()
    await acme.put(`/api/v1/domains/${acme.domainId}`, { max_quota: 1 })
    expect(await queued(app)).toBe(0)
    const silent = await startApp()
    cleanUps.push(silent.stop)
    await change(await silent.tenant('quiet'), 'x')
    expect(await queued(silent)).toBe(0)
    expect(await silent.core.db.selectFrom('events').selectAll().execute()).toHaveLength(1)
  })

  it('exposes the queue depth and the outcomes of attempts as metrics', async () => {
    const { receiver, app, acme } = await setUp()
    const daemon = await run(app)
    await change(acme, 'counted')
    await waitFor(async () => receiver.got.length === 1 && (await queued(app)) === 0)
    const lines = await daemon.metrics?.()
    expect(lines).toContain('webhooks_queue_depth 0')
    expect(lines).toContain('webhooks_attempts_total{outcome="delivered"} 1')
    expect(lines).toContain('webhooks_dead_letters 0')
    expect(lines).toContain('webhooks_delivery_latency_seconds_count 1\n')
    expect(lines).toContain('webhooks_delivery_latency_seconds_bucket{le="30000"} 1\n')
    expect(lines).toContain('webhooks_ingested_total{via="http"} 0')
    expect(lines).not.toContain('webhooks_channel')
  })

  it('measures the latency from the event to its acceptance, retries included', async () => {
    const { receiver, app, acme } = await setUp()
    receiver.state.reply = (_received, response) => response.writeHead(503).end()
    const daemon = await run(app)
    await change(acme, 'slow')
    await waitFor(async () => (await deliveries(app)).length === 1)
    expect(await daemon.metrics?.()).toContain('webhooks_delivery_latency_seconds_count 0\n')
    receiver.state.reply = (_received, response) => response.end()
    app.clock.advance(11 * MINUTE_MS)
    await waitFor(async () => (await queued(app)) === 0)
    const lines = (await daemon.metrics?.()) ?? ''
    expect(lines).toContain('webhooks_delivery_latency_seconds_bucket{le="600"} 0\n')
    expect(lines).toContain('webhooks_delivery_latency_seconds_bucket{le="3600"} 1\n')
    expect(Number(/latency_seconds_sum (\S+)/.exec(lines)?.[1])).toBeGreaterThan(660)
  })
})
