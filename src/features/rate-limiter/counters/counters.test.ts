import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../../test/support/redis.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { type RedisLink, redisLink } from '../../../redis/redis.ts'
import { memoryCounters } from './counters.memory.ts'
import { redisCounters } from './counters.redis.ts'
import type { Bound, Counters, Question } from './counters.ts'
import { type PerWindow, WINDOWS } from './windows.ts'

const NONE: PerWindow = [0, 0, 0, 0, 0, 0]
const START = 1_800_000_000_000

const bound = (
  organizationId: string,
  type: 'organization' | 'mailbox',
  limits: PerWindow,
): Bound => ({
  subject: { organizationId, type, identifier: `${type}@acme.test`, direction: 'outbound' },
  limits,
  warning: 80,
  critical: 95,
})
const limited = (window: string, limit: number): PerWindow =>
  WINDOWS.map(({ name }) => (name === window ? limit : 0))
const ask = (bounds: Bound[], now: number, more: Partial<Question> = {}): Question => ({
  organizationId: bounds[0]?.subject.organizationId ?? '',
  bounds,
  messages: 1,
  recipients: 1,
  record: true,
  now,
  ...more,
})

/** A seeded generator: every run gets the same numbers. */
function random(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

let redis: Awaited<ReturnType<typeof startRedis>>
let link: RedisLink
beforeAll(async () => {
  redis = await startRedis()
  link = redisLink(redis.url, pino({ level: 'silent' }))
  await link.connection()
})
afterAll(async () => {
  link.close()
  await redis.stop()
})

const backends: Record<string, () => Counters> = {
  'in memory': () => memoryCounters({ load: async () => undefined }),
  'in Redis': () => redisCounters(link.connection),
}

describe.each(Object.keys(backends))('rate limit counters %s', (backend) => {
  let counters: Counters
  let organization: string
  beforeEach(() => {
    counters = backends[backend]?.() as Counters
    organization = ulid()
  })
  const allowed = async (question: Question) =>
    (await counters.decide(question)).refused === undefined

  it('admit exactly the limit for 32 concurrent clients and count no rejected message', async () => {
    const bounds = [
      bound(organization, 'organization', NONE),
      bound(organization, 'mailbox', limited('hourly', 100)),
    ]
    const client = async () => {
      let admitted = 0
      for (let i = 0; i < 20; i++) if (await allowed(ask(bounds, START + i))) admitted++
      return admitted
    }
    const admitted = await Promise.all(Array.from({ length: 32 }, client))
    expect(admitted.reduce((sum, one) => sum + one)).toBe(100)
    for (const { subject } of bounds) {
      expect((await counters.usage(subject, START + 20))[2]).toBe(100)
    }
  })

  it.each(WINDOWS.map(({ name, ms, buckets }) => [name, ms, ms / buckets] as const))(
    'never admit more than the limit in any %s window, and no fewer for longer than a bucket',
    async (name, ms, width) => {
      const next = random(ms % 9973)
      const bounds = [bound(organization, 'mailbox', limited(name, 7))]
      const admitted: number[] = []
      let now = START
      for (let i = 0; i < 400; i++) {
        now += Math.floor((next() * ms) / 4)
        const amount = 1 + Math.floor(next() * 2)
        const sum = (since: number) => admitted.filter((at) => at > since).length
        const isIn = await allowed(ask(bounds, now, { messages: amount, recipients: amount }))
        if (isIn) for (let one = 0; one < amount; one++) admitted.push(now)
        expect(sum(now - ms)).toBeLessThanOrEqual(7)
        if (!isIn) expect(sum(now - ms - 2 * width) + amount).toBeGreaterThan(7)
      }
    },
  )

  it('keep the limit when the clock jitters, and recover after it was set back', async () => {
    const bounds = [bound(organization, 'mailbox', limited('minute', 5))]
    const next = random(7)
    let count = 0
    for (let i = 0; i < 100; i++) {
      if (await allowed(ask(bounds, START + Math.floor(next() * 50_000)))) count++
    }
    expect(count).toBe(5)
    const setBack = START - DAY_MS
    expect(await allowed(ask(bounds, setBack))).toBe(false)
    expect(await allowed(ask(bounds, setBack + 62_000))).toBe(true)
  })

  it('count a message once when it is checked several times', async () => {
    const bounds = [bound(organization, 'mailbox', limited('hourly', 3))]
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => allowed(ask(bounds, START, { instance: 'a.1' }))),
    )
    expect(answers.every(Boolean)).toBe(true)
    const subject = bounds[0]?.subject as Bound['subject']
    expect((await counters.usage(subject, START))[2]).toBe(1)
  })

  it('recognize a message again after minutes of other traffic', async () => {
    const bounds = [bound(organization, 'mailbox', limited('daily', 10_000))]
    const subject = bounds[0]?.subject as Bound['subject']
    const pass = (instance: string, minutes: number) =>
      counters.decide(ask(bounds, START + minutes * MINUTE_MS, { instance }))
    await pass('a.1', 0)
    for (let minute = 1; minute < 10; minute++) await pass(`other.${minute}`, minute)
    await pass('a.1', 9)
    expect((await counters.usage(subject, START + 9 * MINUTE_MS))[3]).toBe(10)
  })

  it('do not count a check without record', async () => {
    const bounds = [bound(organization, 'mailbox', limited('daily', 1))]
    expect(await allowed(ask(bounds, START, { record: false }))).toBe(true)
    expect(await allowed(ask(bounds, START))).toBe(true)
    expect(await counters.decide(ask(bounds, START, { record: false }))).toMatchObject({
      refused: { window: 'daily', limit: 1, count: 1 },
    })
  })

  it('report each threshold once per window', async () => {
    const bounds = [bound(organization, 'mailbox', limited('hourly', 20))]
    const told: string[] = []
    const send = async (now: number) => {
      const { breaches } = await counters.decide(ask(bounds, now))
      told.push(...breaches.map(({ level, count }) => `${level} ${count}`))
    }
    for (let i = 0; i < 30; i++) await send(START + i)
    expect(told).toEqual(['warning 16', 'critical 19'])
    const nextHour = START + HOUR_MS + 61_000
    for (let i = 0; i < 17; i++) await send(nextHour + i)
    expect(told).toEqual(['warning 16', 'critical 19', 'warning 16'])
  })

  it('clear one subject at a reset and keep the others', async () => {
    const bounds = [
      bound(organization, 'organization', NONE),
      bound(organization, 'mailbox', limited('monthly', 1)),
    ]
    await counters.decide(ask(bounds, START))
    await counters.reset((bounds[1] as Bound).subject)
    expect(await allowed(ask(bounds, START))).toBe(true)
    expect(await counters.usage((bounds[0] as Bound).subject, START)).toEqual([2, 2, 2, 2, 2, 2])
  })
})
