import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { type Client, startApp } from '../../test/support/app.ts'
import {
  change,
  ENDPOINTS,
  eventsOf,
  type FanOut,
  isIdle,
  queued,
  register,
  standardSignatureOf,
  startFanOut,
} from '../../test/support/fan-out.ts'
import { type Received, startReceiver } from '../../test/support/receiver.ts'
import { waitFor } from '../../test/support/wait.ts'

import { occurrence } from '../events/events.ts'
import { DomainAdded } from '../features/domains/domains.events.ts'

let fan: FanOut
afterEach(() => fan.stop())

const capabilitiesOf = async (who: Client): Promise<string[]> =>
  (await who.get('/api/v1/capabilities/')).body.data.capabilities
const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')

describe('fan-out', () => {
  it('is off by default: endpoints are stored and nothing is enqueued for them', async () => {
    fan = await startFanOut({ WEBHOOK_FANOUT: 'false' })
    const acme = await fan.app.tenant('acme')
    // Without fan-out the URL is stored unchecked, as the specification says.
    const { id } = await register(acme, 'http://127.0.0.9/')
    await acme.post(`${ENDPOINTS}/${id}/test`)
    await change(acme, 'nobody hears')
    expect(await queued(fan.app)).toEqual([])
    expect(await capabilitiesOf(acme)).not.toContain('webhook_fanout')
  })

  it('sends the events of an organization only to its endpoints and to those of the platform', async () => {
    fan = await startFanOut()
    const [acme, globex] = [await fan.app.tenant('acme'), await fan.app.tenant('globex')]
    const platform = await fan.app.key(null, { scope: 'platform' })
    const receivers = [await fan.receiver(), await fan.receiver(), await fan.receiver()] as const
    const [ofAcme, ofGlobex, ofPlatform] = receivers
    const endpoints = [
      await register(acme, ofAcme.url),
      await register(globex, ofGlobex.url),
      await register(platform, ofPlatform.url),
    ]
    await fan.run()
    await waitFor(() => isIdle(fan.app))
    expect(await capabilitiesOf(acme)).toContain('webhook_fanout')
    for (const receiver of receivers) receiver.got.length = 0
    await change(acme, 'ours')
    await change(globex, 'theirs')
    await waitFor(() => isIdle(fan.app))
    const organizations = (got: Received[]) => got.map(({ json }) => json.org_id).sort()
    expect(organizations(ofAcme.got)).toEqual([acme.organizationId])
    expect(organizations(ofGlobex.got)).toEqual([globex.organizationId])
    expect(organizations(ofPlatform.got)).toEqual(
      [acme.organizationId, globex.organizationId].sort(),
    )
    const [received] = ofAcme.got as [Received]
    const secret = endpoints[0]?.secret as string
    expect(received.headers).toMatchObject({
      'x-webhook-signature': `sha256=${hmac(secret, received.body)}`,
      'x-webhook-event': 'domain.updated',
      'webhook-id': received.json.id,
      'webhook-timestamp': received.headers['x-webhook-timestamp'],
      'webhook-signature': standardSignatureOf(received, secret),
    })
    const { timestamp, token, signature } = received.json.signature
    expect(signature).toBe(hmac(secret, `${timestamp}${token}`))
  })

  it('shows each tenant the attempts at its own endpoints, by endpoint and by event', async () => {
    fan = await startFanOut()
    const [acme, globex] = [await fan.app.tenant('acme'), await fan.app.tenant('globex')]
    const platform = await fan.app.key(null, { scope: 'platform' })
    const receiver = await fan.receiver()
    const { id: platformId } = await register(platform, receiver.url)
    const { id } = await register(acme, receiver.url)
    await fan.run()
    await waitFor(() => isIdle(fan.app))
    const log = async (who: typeof platform, query: string) =>
      (await who.get(`/api/v1/webhooks/deliveries?${query}`)).body.data.items
    const [attempt, ...others] = await log(acme, `endpoint_id=${id}`)
    expect(others).toEqual([])
    expect(attempt).toMatchObject({
      endpoint_id: id,
      event_type: 'webhook.test',
      webhook_url: receiver.url,
      delivery_status: 'delivered',
    })
    expect(await log(acme, `event_id=${attempt.event_id}`)).toEqual([attempt])
    expect(await log(acme, `event_id=${attempt.event_id}&status=failed`)).toEqual([])
    expect(await log(acme, `endpoint_id=${platformId}`)).toEqual([])
    expect(await log(globex, `endpoint_id=${id}`)).toEqual([])
    expect(await log(platform, `endpoint_id=${platformId}`)).toHaveLength(2)
  })

  it('sends an endpoint the events that match its event_types', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const wanted = {
      exact: ['domain.updated'],
      prefix: ['domain.*'],
      longer: ['domain.updated.*'],
      other: ['domain', 'domain.update', 'mailbox.*'],
      none: null,
      empty: [],
      star: ['*'],
    }
    const receivers: Record<string, Awaited<ReturnType<FanOut['receiver']>>> = {}
    for (const [name, event_types] of Object.entries(wanted)) {
      receivers[name] = await fan.receiver()
      await register(acme, receivers[name].url, { event_types })
    }
    const inactive = await fan.receiver()
    await register(acme, inactive.url, { active: false })
    await change(acme, 'filtered')
    await fan.run()
    await waitFor(() => isIdle(fan.app))
    // Every endpoint gets its own test event, whatever its event_types, and no other test event.
    const all = ['webhook.test', 'domain.updated']
    const got = Object.entries(receivers).map(([name, receiver]) => [name, eventsOf(receiver)])
    expect(Object.fromEntries(got)).toEqual({
      exact: all,
      prefix: all,
      longer: ['webhook.test'],
      other: ['webhook.test'],
      none: all,
      empty: all,
      star: all,
    })
    expect(inactive.got).toEqual([])
  })

  it('sends a test event to the endpoint and to the global URL', async () => {
    const global = await startReceiver()
    fan = await startFanOut({ WEBHOOK_URL: global.url, WEBHOOK_SECRET: 'whsec_c2VjcmV0' })
    const acme = await fan.app.tenant('acme')
    const [tested, other] = [await fan.receiver(), await fan.receiver()]
    const { id } = await register(acme, tested.url, { event_types: ['email.*'] })
    await register(acme, other.url)
    await fan.run()
    await waitFor(() => isIdle(fan.app))
    expect((await acme.post(`${ENDPOINTS}/${id}/test`)).status).toBe(200)
    await waitFor(() => isIdle(fan.app))
    expect(tested.got.map(({ json }) => json.data.test ?? json.data.action)).toEqual([
      'created',
      true,
    ])
    expect(other.got).toHaveLength(1)
    expect(global.got).toHaveLength(3)
    const [received] = global.got as [Received]
    expect(received.headers['webhook-signature']).toBe(
      standardSignatureOf(received, Buffer.from('secret')),
    )
    await global.stop()
  })

  it('sends no Standard Webhooks headers without a secret', async () => {
    const global = await startReceiver()
    fan = await startFanOut({ WEBHOOK_URL: global.url })
    await fan.run()
    await change(await fan.app.tenant('acme'), 'unsigned')
    await waitFor(() => global.got.length === 1)
    expect(Object.keys(global.got[0]?.headers ?? {})).not.toContain('webhook-signature')
    await global.stop()
  })

  it('keeps the order of events about one thing at each endpoint', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    let slow = 0
    const hesitant = await fan.receiver((_received, response) => {
      setTimeout(() => response.end(), ++slow % 3)
    })
    const quick = await fan.receiver()
    await register(acme, hesitant.url, { event_types: ['domain.*'] })
    await register(acme, quick.url, { event_types: ['domain.*'] })
    for (let n = 0; n < 90; n++) await change(acme, `change ${n}`)
    const stored = await fan.app.core.db
      .selectFrom('events')
      .select('id')
      .where('event', '=', 'domain.updated')
      .orderBy('sequence')
      .execute()
    await fan.run()
    await waitFor(() => isIdle(fan.app))
    for (const { got } of [hesitant, quick]) {
      const ids = got.map(({ json }) => json).filter(({ event }) => event === 'domain.updated')
      expect(ids.map(({ id }) => id)).toEqual(stored.map(({ id }) => id))
    }
    expect(hesitant.state.mostOpen).toBeLessThanOrEqual(4)
  })

  it('sends each event once to endpoints that two daemons share', async () => {
    fan = await startFanOut()
    const tenants = await Promise.all([...'abcdefgh'].map((name) => fan.app.tenant(name)))
    const receiver = await fan.receiver()
    for (const tenant of tenants) await register(tenant, receiver.url)
    const second = await startApp({
      database: fan.app.database,
      env: { WEBHOOK_FANOUT: 'true', WEBHOOK_TIMEOUT: '10', SVC_OUTBOUND_ALLOW: '127.0.0.1' },
    })
    await fan.run()
    const other = await fan.run(second)
    for (let n = 0; n < 5; n++) await Promise.all(tenants.map((tenant) => change(tenant, `${n}`)))
    await waitFor(() => isIdle(fan.app))
    await other.stop()
    await second.stop()
    await Promise.all(tenants.map((tenant) => change(tenant, 'alone')))
    await waitFor(() => isIdle(fan.app))
    const ids = receiver.got.map(({ json }) => json.id)
    expect(ids).toHaveLength(8 * 7)
    expect(new Set(ids).size).toBe(8 * 7)
  })
})

it('sends events of one emitMany call to the endpoints that subscribed to them', async () => {
  fan = await startFanOut()
  const [acme, globex] = [await fan.app.tenant('acme'), await fan.app.tenant('globex')]
  const [wanted, other, foreign] = [
    await fan.receiver(),
    await fan.receiver(),
    await fan.receiver(),
  ]
  await register(acme, wanted.url, { event_types: ['domain.*'] })
  await register(acme, other.url, { event_types: ['mailbox.created'] })
  await register(globex, foreign.url)
  const { db, events } = fan.app.core
  const about = { org_id: acme.organizationId, domain: 'acme.test' }
  const added = (n: number) =>
    occurrence(DomainAdded, about, {
      domain_id: `${n}`,
      domain: 'a\tb',
      organization_id: acme.organizationId,
    })
  await db.transaction().execute((tx) => events.emitMany(tx, [added(1), added(2), added(3)]))
  await fan.run()
  await waitFor(() => isIdle(fan.app))
  // Each endpoint also got its own test event.
  const ids = wanted.got
    .filter(({ json }) => json.event === 'domain.added')
    .map(({ json }) => json.data)
  expect(ids.map(({ domain_id }) => domain_id).sort()).toEqual(['1', '2', '3'])
  expect(ids[0]?.domain).toBe('a\tb')
  expect(eventsOf(other)).toEqual(['webhook.test'])
  expect(eventsOf(foreign)).toEqual(['webhook.test'])
})
