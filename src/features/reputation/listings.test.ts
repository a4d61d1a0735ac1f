import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { startDnsServer } from '../../../test/support/dns-server.ts'
import { nameIn } from './dnsbl.ts'
import { forgetReputation, lookUpListings } from './reputation.jobs.ts'

const IP = '192.0.2.25'
const SIX = '2001:db8::25'
const ON_ONE = '25.2.0.192.one.test'
const ON_TWO = '25.2.0.192.two.test'
const DAY_MS = 24 * 60 * 60 * 1000

let dns: Awaited<ReturnType<typeof startDnsServer>>
let app: App
let support: Awaited<ReturnType<App['operator']>>
beforeEach(async () => {
  dns = await startDnsServer()
  app = await startApp({
    env: {
      SVC_DNS_SERVERS: dns.address,
      SVC_DNS_TIMEOUT: '1',
      SVC_MAIL_HOSTNAME: 'mx.host.test',
      SENDING_IPS: `${IP}, ${SIX}`,
      RBL_ZONES: 'one.test, two.test',
    },
  })
  support = await app.operator('support')
})
afterEach(async () => {
  await app.stop()
  await dns.stop()
})

const lookUp = () => lookUpListings(app.core.config).run(app.core)
const shown = async (ip = IP) => {
  const { body } = await support.get(`/api/v1/reputation/ips?q=${encodeURIComponent(ip)}`)
  return body.data.items[0]
}
const told = async () =>
  (
    await app.core.db
      .selectFrom('events')
      .select('data')
      .where('event', '=', 'optimizer.reputation.changed')
      .orderBy('id')
      .execute()
  ).map(({ data }) => data)

describe('an address of ours', () => {
  it('that no list has is not blocked', async () => {
    await lookUp()
    expect(await shown()).toMatchObject({ reputation_score: 50, is_blocked: false })
    expect(await shown(SIX)).toMatchObject({ is_blocked: false, blocked_reason: null })
    expect(await told()).toEqual([])
  })

  it('that a list has is blocked, which is told once; and again when it is over', async () => {
    dns.state.records = { [ON_ONE]: { A: ['127.0.0.2'] }, [ON_TWO]: { A: ['127.0.0.10'] } }
    await lookUp()
    await lookUp()
    expect(await shown()).toMatchObject({
      reputation_score: 0,
      is_blocked: true,
      blocked_reason: 'Listed by one.test, two.test',
      blocked_until: null,
    })
    dns.state.records = {}
    await lookUp()
    expect(await shown()).toMatchObject({ reputation_score: 50, is_blocked: false })
    expect(await told()).toEqual([
      {
        domain: 'mx.host.test',
        old_score: 50,
        new_score: 0,
        rating: 'poor',
        ip: IP,
        listed_zones: ['one.test', 'two.test'],
      },
      {
        domain: 'mx.host.test',
        old_score: 0,
        new_score: 50,
        rating: 'fair',
        ip: IP,
        listed_zones: [],
      },
    ])
  })

  it.each(['127.255.255.254', '203.0.113.80'])(
    'is not blocked by a list that answers %s',
    async (answer) => {
      dns.state.records = { [ON_ONE]: { A: [answer] } }
      await lookUp()
      expect(await shown()).toMatchObject({ is_blocked: false })
    },
  )

  it('keeps what a list said while that is silent', async () => {
    dns.state.records = { [ON_ONE]: { A: ['127.0.0.2'] } }
    await lookUp()
    dns.state.silent = true
    await lookUp()
    expect(await shown()).toMatchObject({ blocked_reason: 'Listed by one.test' })
    expect((await told()).length).toBe(1)
  })

  it('is forgotten as listed when it is no longer looked up, and stays while it is', async () => {
    dns.state.records = { [ON_ONE]: { A: ['127.0.0.2'] } }
    await lookUp()
    app.clock.advance(100 * DAY_MS)
    support = await app.operator('support')
    await forgetReputation.run(app.core)
    expect(await shown()).toMatchObject({ is_blocked: true })
    const config = { ...app.core.config, SENDING_IPS: [] }
    await lookUpListings(config).run({ ...app.core, config })
    expect(await shown()).toMatchObject({ is_blocked: false })
    await forgetReputation.run(app.core)
    expect(await shown()).toBeUndefined()
  })
})

it('names addresses of both families below a zone', () => {
  expect(nameIn('one.test', IP)).toBe(ON_ONE)
  expect(nameIn('one.test', SIX)).toBe(`5.2.0.0.${'0.'.repeat(20)}8.b.d.0.1.0.0.2.one.test`)
})
