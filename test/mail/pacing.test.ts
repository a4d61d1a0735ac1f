import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/lib/time.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const WARM_UPS = '/api/v1/reputation/warm-ups'
const IP = '192.0.2.80'
const WHY = { reason: 'new address' }

describe.skipIf(edgeMissing)(`mail of an IP address in warm-up (B2.9)${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let operator: Awaited<ReturnType<MailHost['app']['operator']>>
  const logins = new Map<string, { from: string; username: string; secret: string }>()
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    operator = await host.app.operator('operator')
    for (const [tenant, domain] of [
      [acme, 'pace.test'],
      [globex, 'other.test'],
    ] as const) {
      const { id } = await host.app.hostedDomain(tenant, { domain })
      const { body } = await tenant.post('/api/v1/smtp-credentials/', { domain_id: id })
      logins.set(domain, { from: `app@${domain}`, ...body.data })
    }
  })
  afterAll(() => host.stop())

  const send = async (to: string | string[], domain = 'pace.test') => {
    const { from, username, secret } = logins.get(domain) as { from: string } & {
      username: string
      secret: string
    }
    const client = await host.submission()
    try {
      expect((await client.auth(username, secret)).code).toBe(235)
      const text = message(from, [to].flat()[0] ?? '', `paced ${to}`)
      return (await client.send({ from, to, text })).code
    } finally {
      client.quit()
    }
  }
  const shown = async () => (await operator.get(WARM_UPS)).body.data.items[0]
  /** A session does not last as long as the clock moves. */
  const nextDay = async () => {
    host.app.clock.advance(DAY_MS)
    operator = await host.app.operator('operator')
  }
  const received = () =>
    ['a', 'b', 'c', 'd', 'e'].map((name) => host.sink.to(`${name}@outside.test`).length)

  it('is accepted, and what exceeds the step of the day waits in the queue', async () => {
    const created = await operator.post(WARM_UPS, {
      ip_address: IP,
      organization_id: acme.organizationId,
      target_daily_volume: 2,
      warmup_days: 30,
      ...WHY,
    })
    expect(created.status).toBe(201)
    for (const name of ['a', 'b', 'c', 'd']) expect(await send(`${name}@outside.test`)).toBe(250)
    // Recipients on this host do not wait for those outside.
    expect(await send(['e@outside.test', globex.email])).toBe(250)
    await host.arrived(globex.email, `paced e@outside.test,${globex.email}`)
    expect(await send('x@outside.test', 'other.test')).toBe(250)
    await waitFor(() => host.sink.to('x@outside.test').length === 1)
    await waitFor(async () => (await shown()).sent_today === 2)
    expect(await shown()).toMatchObject({ under_way: 0, waiting: 3, today_limit: 2 })
    expect(received()).toEqual([1, 1, 0, 0, 0])
    const queue = await operator.get('/api/v1/queue/queue/status')
    expect(queue.body.data.summary).toMatchObject({ hold: 3 })
  })

  it('survives a restart of the mail servers and of the filter', async () => {
    process.kill(host.pids().Postfix as number, 'SIGKILL')
    await host.stopFilter()
    await host.down()
    await host.up()
    await host.startFilter()
    expect(await shown()).toMatchObject({ sent_today: 2, waiting: 3 })
    expect(received()).toEqual([1, 1, 0, 0, 0])
  })

  it('leaves the queue by itself, oldest first, as the days allow', async () => {
    await nextDay()
    await waitFor(async () => (await shown()).sent_today === 2)
    expect(await shown()).toMatchObject({ day: 2, waiting: 1 })
    expect(received()).toEqual([1, 1, 1, 1, 0])
    await nextDay()
    await waitFor(() => host.sink.to('e@outside.test').length === 1)
    await waitFor(async () => (await shown()).sent_today === 1)
    expect(await shown()).toMatchObject({ day: 3, waiting: 0, under_way: 0 })
    expect(received()).toEqual([1, 1, 1, 1, 1])
  })
})
