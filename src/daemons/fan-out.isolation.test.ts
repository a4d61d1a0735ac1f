import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import {
  change,
  ENDPOINTS,
  type FanOut,
  isIdle,
  queued,
  register,
  startFanOut,
} from '../../test/support/fan-out.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { waitFor } from '../../test/support/wait.ts'
import { MINUTE_MS } from '../lib/time.ts'

let fan: FanOut
afterEach(() => fan.stop())

const DOMAINS = { event_types: ['domain.*'] }
/** Enqueues a backlog of events, as after an outage of the endpoint. */
const pileUp = (endpointId: string, events: number, attempts = 0) =>
  sql`
    with stored as (
      insert into events (id, event, source, data)
      select ${endpointId} || '-' || ${attempts}::int || '-' || n, 'domain.updated', 'api', '{}'
      from generate_series(1, ${events}::int) as n returning id, sequence
    )
    insert into webhook_queue (event_id, lane, subject, endpoint_id, attempts)
    select id, webhook_endpoint_lane(${endpointId}), sequence % 64, ${endpointId}, ${attempts}::int
    from stored order by sequence`.execute(fan.app.core.db)
const waitingFor = async (endpointId: string) =>
  (await queued(fan.app)).filter((row) => row.endpoint_id === endpointId).length

describe('an endpoint that does not answer', () => {
  it('does not delay other receivers, even with a long queue of its own', async () => {
    const global = await startReceiver()
    fan = await startFanOut({ WEBHOOK_URL: global.url, WEBHOOK_TIMEOUT: '20' })
    const acme = await fan.app.tenant('acme')
    const hanging = await fan.receiver(() => {})
    const healthy = await fan.receiver()
    const { id } = await register(acme, hanging.url, DOMAINS)
    await register(acme, healthy.url, DOMAINS)
    await pileUp(id, 3000)
    await pileUp(id, 3000, 1)
    await fan.run()
    for (let n = 0; n < 30; n++) await change(acme, `change ${n}`)
    // The global URL gets the test events of both endpoints, the healthy endpoint only its own.
    await waitFor(() => healthy.got.length === 31 && global.got.length === 32)
    // No attempt at the hanging endpoint has ended yet.
    expect(hanging.state.mostOpen).toBe(4)
    expect(hanging.got).toHaveLength(4)
    expect(await waitingFor(id)).toBe(6031)
    // An attempt in progress ends with its connection, not at the timeout.
    await hanging.stop()
    await global.stop()
  })

  it('leaves workers for fast endpoints while several endpoints hang', async () => {
    fan = await startFanOut({ WEBHOOK_ENDPOINT_WORKERS: '8', WEBHOOK_TIMEOUT: '4' })
    const acme = await fan.app.tenant('acme')
    const hanging = await fan.receiver(() => {})
    for (let n = 0; n < 4; n++) {
      const { id } = await register(acme, `${hanging.url}/${n}`, DOMAINS)
      await pileUp(id, 50)
    }
    const healthy = await fan.receiver()
    await fan.run()
    // The first round occupied all workers; after it the hanging endpoints count as slow.
    await waitFor(() => hanging.got.length > 8 && hanging.state.open <= 4)
    expect(hanging.state.mostOpen).toBe(8)
    hanging.state.mostOpen = 0
    await register(acme, healthy.url, DOMAINS)
    for (let n = 0; n < 20; n++) await change(acme, `change ${n}`)
    await waitFor(() => healthy.got.length === 21)
    expect(hanging.state.mostOpen).toBeLessThanOrEqual(4)
    await hanging.stop()
  })
})

describe('the queue entries of an endpoint', () => {
  it.each([
    ['deleted', 'delete'],
    ['switched off', 'deactivate'],
  ])('are deleted when the endpoint is %s', async (_what, how) => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const failing = await fan.receiver((_received, response) => response.writeHead(500).end())
    const other = await fan.receiver()
    const { id } = await register(acme, failing.url)
    const { id: kept } = await register(acme, other.url)
    await fan.run()
    await waitFor(() => failing.got.length === 1)
    if (how === 'delete') await acme.delete(`${ENDPOINTS}/${id}`)
    else await acme.put(`${ENDPOINTS}/${id}`, { active: false })
    await pileUp(id, 2500)
    await pileUp(kept, 20)
    await waitFor(() => isIdle(fan.app))
    expect(failing.got).toHaveLength(1)
    expect(other.got).toHaveLength(21)
  })

  it('go to the new URL after the endpoint has changed', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const [before, after] = [await fan.receiver(), await fan.receiver()]
    before.state.reply = (_received, response) => response.writeHead(503).end()
    const { id } = await register(acme, before.url)
    await fan.run()
    await waitFor(() => before.got.length === 1)
    await acme.put(`${ENDPOINTS}/${id}`, { url: after.url })
    fan.app.clock.advance(11 * MINUTE_MS)
    await waitFor(() => isIdle(fan.app))
    expect(before.got).toHaveLength(1)
    expect(after.got).toHaveLength(1)
  })
})

describe('a dead letter of an endpoint', () => {
  const dead = '/api/v1/webhooks/dead-letters'
  const reason = { reason: 'the receiver is back' }

  it('is visible to its tenant, and its replay goes to that endpoint alone', async () => {
    const global = await startReceiver()
    fan = await startFanOut({ WEBHOOK_URL: global.url, WEBHOOK_MAX_RETRIES: '0' })
    const [acme, globex] = [await fan.app.tenant('acme'), await fan.app.tenant('globex')]
    const failing = await fan.receiver((_received, response) => response.writeHead(500).end())
    const healthy = await fan.receiver()
    const broken = await fan.receiver((_received, response) => response.writeHead(500).end())
    const { id } = await register(acme, failing.url, DOMAINS)
    const { id: brokenId } = await register(acme, broken.url, DOMAINS)
    await register(acme, healthy.url, DOMAINS)
    await fan.run()
    await waitFor(() => isIdle(fan.app))
    const [letter, ...others] = (await acme.get(`${dead}?endpoint_id=${id}`)).body.data.items
    expect(others).toEqual([])
    expect(letter).toMatchObject({ endpoint_id: id, endpoint_url: failing.url })
    expect((await globex.get(dead)).body.data.items).toEqual([])

    const operator = await fan.app.operator('operator')
    expect((await operator.get(`${dead}/${letter.id}`)).body.data.replayable).toBe(true)
    failing.state.reply = (_received, response) => response.end()
    const counts = [global.got.length, healthy.got.length]
    expect((await operator.post(`${dead}/${letter.id}/replay`, reason)).status).toBe(200)
    await waitFor(() => isIdle(fan.app))
    expect(failing.got).toHaveLength(2)
    expect(failing.got[1]?.json.id).toBe(failing.got[0]?.json.id)
    expect([global.got.length, healthy.got.length]).toEqual(counts)

    expect(await operator.post(`${dead}/${letter.id}/replay`, reason)).toMatchObject({
      status: 409,
      body: { msg: 'Cannot replay dead letter: it is already resolved' },
    })
    const [left] = (await acme.get(`${dead}?endpoint_id=${brokenId}`)).body.data.items
    for (const gone of ['inactive', 'deleted']) {
      if (gone === 'inactive') await acme.put(`${ENDPOINTS}/${brokenId}`, { active: false })
      else await acme.delete(`${ENDPOINTS}/${brokenId}`)
      expect(await operator.post(`${dead}/${left.id}/replay`, reason)).toMatchObject({
        status: 409,
        body: { msg: 'Cannot replay dead letter: its webhook endpoint is gone or inactive' },
      })
      expect((await operator.get(`${dead}/${left.id}`)).body.data.replayable).toBe(false)
    }
    expect(await queued(fan.app)).toEqual([])
    await global.stop()
  })
})

describe('a second daemon', () => {
  const owners = async () => {
    const { db } = fan.app.core
    const lanes = db.selectFrom('webhook_lanes').where('lease_owner', 'is not', null)
    return lanes.select('lease_owner').distinct().execute()
  }

  it('leases its share of the lanes, but none with an attempt in progress', async () => {
    fan = await startFanOut({ WEBHOOK_TIMEOUT: '6' })
    const acme = await fan.app.tenant('acme')
    const hanging = await fan.receiver(() => {})
    const endpoints = 24
    for (let n = 0; n < endpoints; n++) await register(acme, `${hanging.url}/${n}`, DOMAINS)
    await fan.run()
    await waitFor(() => hanging.got.length === endpoints)
    await fan.run()
    await waitFor(async () => (await owners()).length === 2)
    await waitFor(async () => (await queued(fan.app)).every(({ attempts }) => attempts === 1))
    expect(hanging.got).toHaveLength(endpoints)
    await hanging.stop()
  })

  it('takes over the lanes of a daemon that has stopped', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const receiver = await fan.receiver()
    await register(acme, receiver.url, DOMAINS)
    const first = await fan.run()
    await fan.run()
    await waitFor(async () => (await owners()).length === 2)
    await first.stop()
    for (let n = 0; n < 10; n++) await change(acme, `change ${n}`)
    await waitFor(() => isIdle(fan.app))
    expect(new Set(receiver.got.map(({ json }) => json.id)).size).toBe(receiver.got.length)
    expect(receiver.got).toHaveLength(11)
  })
})
