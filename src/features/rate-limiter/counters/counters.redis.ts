import type { RedisClient } from '../../../redis/client.ts'
import { DECIDE, USAGE } from './counters.lua.ts'
import {
  type Bound,
  type Breach,
  type Counters,
  CountersUnavailable,
  type Question,
  type Subject,
  type Verdict,
} from './counters.ts'
import { amountsOf, WINDOWS } from './windows.ts'

type Script = (keys: number, ...values: (string | number)[]) => Promise<number[]>

/** The braces are the hash tag of Redis Cluster: all keys of an organization are on one node. */
const keysOf = ({ organizationId, type, direction, identifier }: Subject): string[] => {
  const name = `{${organizationId}}:${type}:${direction}:${identifier}`
  return [`mailplane:rate:${name}`, `mailplane:buckets:${name}`]
}

/** Counts in Redis for all processes. A decision is one atomic script. */
export function redisCounters(connection: () => Promise<RedisClient>): Counters {
  let scripted: Promise<RedisClient> | undefined
  const connected = () => {
    scripted ??= connection().then((client) => {
      client.defineCommand('mailplaneDecide', { lua: DECIDE })
      client.defineCommand('mailplaneUsage', { lua: USAGE })
      return client
    })
    return scripted
  }
  const run = async (
    script: 'mailplaneDecide' | 'mailplaneUsage',
    keys: string[],
    values: (string | number)[],
  ) => {
    try {
      const client = (await connected()) as unknown as Record<typeof script, Script>
      return await client[script](keys.length, ...keys, ...values)
    } catch (error) {
      throw new CountersUnavailable('Redis does not answer', { cause: error })
    }
  }

  return {
    async decide(question: Question) {
      const { organizationId, bounds, record, instance, now } = question
      const keys = bounds.flatMap(({ subject }) => keysOf(subject))
      if (instance !== undefined) keys.push(`mailplane:message:{${organizationId}}:${instance}`)
      const values = bounds.flatMap(({ limits, warning, critical }) => [
        ...limits,
        warning,
        critical,
      ])
      const answer = await run('mailplaneDecide', keys, [
        now,
        record ? 1 : 0,
        bounds.length,
        ...amountsOf(question),
        ...values,
      ])
      return verdictOf(bounds, answer)
    },

    usage: (subject, now) => run('mailplaneUsage', keysOf(subject), [now]),

    async reset(subject) {
      try {
        await (await connected()).unlink(...keysOf(subject))
      } catch (error) {
        throw new CountersUnavailable('Redis does not answer', { cause: error })
      }
    },
  }
}

function verdictOf(bounds: readonly Bound[], [refused, ...values]: number[]): Verdict {
  const [index = 0, window = 0, count = 0] = values
  const found = (at: number, of: number) => {
    const bound = bounds[at] as Bound
    const { name } = WINDOWS[of] as (typeof WINDOWS)[number]
    return { bound, window: name, limit: bound.limits[of] as number }
  }
  if (refused === 1) return { refused: { ...found(index, window), count }, breaches: [] }
  const breaches: Breach[] = []
  for (let at = 0; at + 3 < values.length; at += 4) {
    const [bound = 0, of = 0, level, reached = 0] = values.slice(at, at + 4)
    breaches.push({
      ...found(bound, of),
      level: level === 0 ? 'warning' : 'critical',
      count: reached,
    })
  }
  return { breaches }
}
