import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../../test/support/app.ts'
import { type AppWithDns, startAppWithDns } from '../../../test/support/app-with-dns.ts'
import { DAY_MS } from '../../lib/time.ts'
import { nameIn } from './dnsbl.ts'
import { forgetReputation, lookUpListings } from './reputation.jobs.ts'

const IP = '192.0.2.25'
const SIX = '2001:db8::25'
const ON_ONE = '25.2.0.192.one.test'
const ON_TWO = '25.2.0.192.two.test'

let app: App
let dns: AppWithDns['dns']
let stop: AppWithDns['stop']
let support: Awaited<ReturnType<App['operator']>>
beforeEach(async () => {
  ;({ app, dns, stop } = await startAppWithDns({
    SVC_MAIL_HOSTNAME: 'mx.host.test',
    SENDING_IPS: `${IP}, ${SIX}`,
    RBL_ZONES: 'one.test, two.test',
  }))
  support = await app.operator('support')
})
afterEach(() => stop())

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

describe('a sending IP', () => {
  it('is not blocked when no DNS block list contains it', async () => {
    await lookUp()
    expect(await shown()).toMatchObject({ reputation_score: 50, is_blocked: false })
    expect(await shown(SIX)).toMatchObject({ is_blocked: false, blocked_reason: null })
    expect(await told()).toEqual([])
  })

  it('is blocked while a list contains it, with one event for each change', async () => {
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
    'is not blocked by a list that returns %s',
    async (answer) => {
      dns.state.records = { [ON_ONE]: { A: [answer] } }
      await lookUp()
      expect(await shown()).toMatchObject({ is_blocked: false })
    },
  )

  it('keeps its last result while the list does not respond', async () => {
    dns.state.records = { [ON_ONE]: { A: ['127.0.0.2'] } }
    await lookUp()
    dns.state.silent = true
    await lookUp()
    expect(await shown()).toMatchObject({ blocked_reason: 'Listed by one.test' })
    expect((await told()).length).toBe(1)
  })

  it('loses its listing when it is removed from SENDING_IPS, and not before', async () => {
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

it('builds DNS block list names for IPv4 and IPv6', () => {
  expect(nameIn('one.test', IP)).toBe(ON_ONE)
  expect(nameIn('one.test', SIX)).toBe(`5.2.0.0.${'0.'.repeat(20)}8.b.d.0.1.0.0.2.one.test`)
})
