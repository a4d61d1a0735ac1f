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

let fan: FanOut
afterEach(() => fan.stop())

const DOMAINS = { event_types: ['domain.*'] }
/** A backlog, as if as many changes had been made while the endpoint was away. */
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
  it('costs nobody else anything, however much waits for it', async () => {
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
    // Its own test, and 30 changes; the global address hears of both registrations.
    await waitFor(() => healthy.got.length === 31 && global.got.length === 32)
    // Not one of its attempts has ended meanwhile.
    expect(hanging.state.mostOpen).toBe(4)
    expect(hanging.got).toHaveLength(4)
    expect(await waitingFor(id)).toBe(6031)
    // What is under way ends with its connection, not with the time limit.
    await hanging.stop()
    await global.stop()
  })

  it('leaves workers for the others, however many there are of its kind', async () => {
    fan = await startFanOut({ WEBHOOK_ENDPOINT_WORKERS: '8', WEBHOOK_TIMEOUT: '4' })
    const acme = await fan.app.tenant('acme')
    const hanging = await fan.receiver(() => {})
    for (let n = 0; n < 4; n++) {
      const { id } = await register(acme, `${hanging.url}/${n}`, DOMAINS)
      await pileUp(id, 50)
    }
    const healthy = await fan.receiver()
    await fan.run()
    // The first round took all workers; by the second they are known to be slow.
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

describe('what waits for an endpoint', () => {
  it.each([
    ['deleted', 'delete'],
    ['switched off', 'deactivate'],
  ])('goes when the endpoint is %s', async (_what, how) => {
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

  it('goes to the new address once the endpoint has one', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const [before, after] = [await fan.receiver(), await fan.receiver()]
    before.state.reply = (_received, response) => response.writeHead(503).end()
    const { id } = await register(acme, before.url)
    await fan.run()
    await waitFor(() => before.got.length === 1)
    await acme.put(`${ENDPOINTS}/${id}`, { url: after.url })
    fan.app.clock.advance(11 * 60_000)
    await waitFor(() => isIdle(fan.app))
    expect(before.got).toHaveLength(1)
    expect(after.got).toHaveLength(1)
  })
})

describe('a dead letter of an endpoint', () => {
  const dead = '/api/v1/webhooks/dead-letters'
  const reason = { reason: 'the receiver is back' }

  it('is its tenant’s to see, and its replay goes to that endpoint alone', async () => {
    const global = await startReceiver()
    fan = await startFanOut({ WEBHOOK_URL: global.url, WEBHOOK_MAX_RETRIES: '0' })
    const [acme, globex] = [await fan.app.tenant('acme'), await fan.app.tenant('globex')]
    const failing = await fan.receiver((_received, response) => response.writeHead(500).end())
    const healthy = await fan.receiver()
    const { id } = await register(acme, failing.url, DOMAINS)
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

    for (const gone of ['inactive', 'deleted']) {
      if (gone === 'inactive') await acme.put(`${ENDPOINTS}/${id}`, { active: false })
      else await acme.delete(`${ENDPOINTS}/${id}`)
      expect(await operator.post(`${dead}/${letter.id}/replay`, reason)).toMatchObject({
        status: 409,
        body: { msg: 'Cannot replay dead letter: its webhook endpoint is gone or inactive' },
      })
      expect((await operator.get(`${dead}/${letter.id}`)).body.data.replayable).toBe(false)
    }
    expect(await queued(fan.app)).toEqual([])
    await global.stop()
  })
})

describe('a second daemon', () => {
  const owners = async () => {
    const { db } = fan.app.core
    const lanes = db.selectFrom('webhook_lanes').where('owner', 'is not', null)
    return lanes.select('owner').distinct().execute()
  }

  it('gets its share of the lanes, but nothing that the first has under way', async () => {
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

  it('takes over what the first leaves', async () => {
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
