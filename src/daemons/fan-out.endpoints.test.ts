import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { startDnsServer } from '../../test/support/dns-server.ts'
import {
  change,
  ENDPOINTS,
  type FanOut,
  isIdle,
  register,
  standardSignatureOf,
  startFanOut,
} from '../../test/support/fan-out.ts'
import type { Received } from '../../test/support/receiver.ts'
import { waitFor } from '../../test/support/wait.ts'
import { DAY_MS, MINUTE_MS } from '../lib/time.ts'

let fan: FanOut
afterEach(() => fan.stop())

describe('an endpoint on an IP address that must not be called', () => {
  it.each([
    ['http://127.0.0.2/', '127.0.0.2 is a loopback address'],
    ['http://2852039166/', '169.254.169.254 is a link-local address'],
    ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1 is a private address'],
    ['http://localhost.:5000/', 'localhost leads to a loopback address'],
  ])('is rejected with 400 on create and update: %s', async (url, why) => {
    fan = await startFanOut({ SVC_OUTBOUND_ALLOW: '' })
    const acme = await fan.app.tenant('acme')
    const { id } = await register(acme, 'https://hooks.test/')
    const refused = {
      status: 400,
      body: {
        type: 'error',
        msg: `url: Refused: ${why}, which is called only when SVC_OUTBOUND_ALLOW has it`,
      },
    }
    expect(await acme.post(ENDPOINTS, { url })).toMatchObject(refused)
    expect(await acme.put(`${ENDPOINTS}/${id}`, { url })).toMatchObject(refused)
    expect((await acme.get(ENDPOINTS)).body.data.items).toMatchObject([
      { id, url: 'https://hooks.test/' },
    ])
  })

  it('receives nothing through a name that resolves to it, and the failure is logged as an attempt', async () => {
    const answers = { A: ['127.0.0.2'] }
    const dns = await startDnsServer({ 'inside.test': answers })
    fan = await startFanOut({ SVC_DNS_SERVERS: dns.address, WEBHOOK_RETRY_SCHEDULE: '600' })
    const acme = await fan.app.tenant('acme')
    const allowed = await fan.receiver((_received, response) => {
      response.setHeader('connection', 'close').end()
    })
    const inside = await fan.receiver(undefined, { host: '127.0.0.2', port: allowed.port })
    const { id } = await register(acme, `http://inside.test:${allowed.port}/`)
    await fan.run()
    const log = async () =>
      (await acme.get(`/api/v1/webhooks/deliveries?endpoint_id=${id}`)).body.data.items
    const refused = {
      delivery_status: 'retrying',
      http_status_code: 0,
      error_message: 'Refused: inside.test has no public address in DNS',
    }
    await waitFor(async () => (await log()).length === 1)
    expect(await log()).toMatchObject([refused])

    answers.A = ['127.0.0.1']
    fan.app.clock.advance(11 * MINUTE_MS)
    await waitFor(() => isIdle(fan.app))
    expect(allowed.got).toHaveLength(1)

    answers.A = ['127.0.0.1', '127.0.0.2']
    await change(acme, 'rebound')
    await waitFor(async () => (await log()).length === 3)
    expect((await log())[0]).toMatchObject(refused)
    expect(inside.got).toEqual([])
    await dns.stop()
  })

  it('receives nothing through a redirect', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const inside = await fan.receiver(undefined, { host: '127.0.0.2' })
    const front = await fan.receiver((_received, response) => {
      response.writeHead(307, { location: inside.url }).end()
    })
    const { id } = await register(acme, front.url)
    await fan.run()
    const path = `/api/v1/webhooks/deliveries?endpoint_id=${id}`
    const [attempt] = await waitFor(async () => {
      const { items } = (await acme.get(path)).body.data
      return items.length === 1 && items
    })
    expect(attempt).toMatchObject({ http_status_code: 307, delivery_status: 'retrying' })
    expect(inside.got).toEqual([])
  })
})

describe('rotating the secret of an endpoint', () => {
  const rotate = (who: Awaited<ReturnType<FanOut['app']['tenant']>>, id: string, body?: object) =>
    who.call('POST', `${ENDPOINTS}/${id}/rotate-secret`, body)

  it.each([
    [{ overlap_seconds: -1 }, 'overlap_seconds'],
    [{ overlap_seconds: 7 * 86_400 + 1 }, 'overlap_seconds'],
    [{ overlap_seconds: 'long' }, 'overlap_seconds'],
    [{ secret: '' }, 'secret'],
    [{ secret: 'x'.repeat(513) }, 'secret'],
  ])('rejects %j', async (body, field) => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const { id } = await register(acme, 'https://hooks.test/')
    const answer = await rotate(acme, id, body)
    expect(answer.status).toBe(422)
    expect(answer.text).toContain(field)
  })

  it('returns 404 for the endpoint of another tenant', async () => {
    fan = await startFanOut()
    const [acme, globex] = [await fan.app.tenant('acme'), await fan.app.tenant('globex')]
    const { id } = await register(acme, 'https://hooks.test/')
    expect((await rotate(globex, id)).status).toBe(404)
    expect((await rotate(acme, 'nothing')).body.msg).toBe('Webhook endpoint not found')
  })

  it('signs with both secrets during the overlap, then with the new one, and shows it once', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const receiver = await fan.receiver()
    const key = Buffer.from('the key of the first secret')
    const first = `whsec_${key.toString('base64')}`
    const { id } = await register(acme, receiver.url, { secret: first })
    await fan.run()
    const next = async (): Promise<Received> => {
      await waitFor(() => isIdle(fan.app))
      receiver.got.length = 0
      await change(acme, 'signed')
      await waitFor(() => isIdle(fan.app))
      expect(receiver.got).toHaveLength(1)
      return receiver.got[0] as Received
    }
    const signed = ({ headers }: Received) => headers['webhook-signature']
    const ours = ({ body }: Received, secret: string) =>
      `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

    const before = await next()
    expect(signed(before)).toBe(standardSignatureOf(before, key))
    expect(before.headers['x-webhook-signature']).toBe(ours(before, first))

    const answer = await rotate(acme, id)
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Webhook endpoint secret rotated' } })
    const { secret, previous_secret_until } = answer.body.data
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    const ends = Date.parse(previous_secret_until) - fan.app.clock.now().getTime()
    expect(Math.abs(ends - DAY_MS)).toBeLessThan(10_000)
    expect((await acme.get(`${ENDPOINTS}/${id}`)).text).not.toContain(secret)

    const during = await next()
    expect(signed(during)).toBe(
      `${standardSignatureOf(during, secret)} ${standardSignatureOf(during, key)}`,
    )
    expect(during.headers['x-webhook-signature']).toBe(ours(during, secret))

    fan.app.clock.advance(DAY_MS + 1000)
    const after = await next()
    expect(signed(after)).toBe(standardSignatureOf(after, secret))

    await rotate(acme, id, { secret: 'chosen', overlap_seconds: 60 })
    const chosen = await next()
    expect(signed(chosen)).toBe(
      `${standardSignatureOf(chosen, 'chosen')} ${standardSignatureOf(chosen, secret)}`,
    )
    await acme.put(`${ENDPOINTS}/${id}`, { secret: 'at once' })
    const replaced = await next()
    expect(signed(replaced)).toBe(standardSignatureOf(replaced, 'at once'))

    await rotate(acme, id, { overlap_seconds: 0 })
    expect(signed(await next())).not.toContain(' ')
  })

  it('stores both secrets sealed', async () => {
    fan = await startFanOut()
    const acme = await fan.app.tenant('acme')
    const { id } = await register(acme, 'https://hooks.test/', { secret: 'the first' })
    await rotate(acme, id, { secret: 'the second' })
    const row = await fan.app.core.db
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const stored = JSON.stringify(row) + String(row.secret) + String(row.previous_secret)
    expect(stored).not.toMatch(/the (first|second)/)
    expect(row.previous_secret).not.toBeNull()
  })
})
