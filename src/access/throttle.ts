import type { Core } from '../core.ts'
import { namedMutex } from '../lib/mutex.ts'
import { TooManyAttempts } from './access.errors.ts'
import type { Dimension } from './throttle.repository.ts'
import * as attempts from './throttle.repository.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const FIRST_WAIT = 15 * SECOND

interface Policy {
  limit: number
  windowMs: number
  backoffFrom: number
}

export const policies = {
  api: { limit: 5, windowMs: 15 * MINUTE, backoffFrom: 3 },
  operator: { limit: 3, windowMs: 15 * MINUTE, backoffFrom: 1 },
  // Apart from the password step: whoever knows the password must not clear these failures.
  operator_mfa: { limit: 3, windowMs: 15 * MINUTE, backoffFrom: 1 },
  webmail: { limit: 5, windowMs: 15 * MINUTE, backoffFrom: 3 },
  api_key: { limit: 20, windowMs: 5 * MINUTE, backoffFrom: 5 },
} satisfies Record<string, Policy>

export type ThrottledService = keyof typeof policies

/** How long the n-th failure closes the door: doubling from the backoff on, then the whole window. */
export function blockMs({ limit, windowMs, backoffFrom }: Policy, failures: number): number {
  if (failures >= limit) return windowMs
  if (failures < backoffFrom) return 0
  return Math.min(FIRST_WAIT * 2 ** (failures - backoffFrom), windowMs)
}

type Needs = Pick<Core, 'db' | 'now'>

export type Throttle = ReturnType<typeof throttle>

export function throttle({ db, now }: Needs) {
  const inTurn = namedMutex()

  async function refuseBlocked(service: ThrottledService, dimensions: Dimension[]) {
    const until = await attempts.findBlock(db, service, dimensions, now())
    if (until) throw new TooManyAttempts(until, now())
  }

  async function countFailure(service: ThrottledService, dimension: Dimension) {
    const policy = policies[service]
    const time = now()
    const since = new Date(time.getTime() - policy.windowMs)
    await db.transaction().execute(async (tx) => {
      await attempts.lock(tx, service, dimension)
      const row =
        (await attempts.continueRow(tx, service, dimension, since, time, 'invalid_credentials')) ??
        (await attempts.insertRow(tx, service, dimension, time, 'invalid_credentials'))
      const wait = blockMs(policy, row.attempt_count)
      if (wait > 0) await attempts.setBlock(tx, row.id, new Date(time.getTime() + wait), time)
    })
  }

  return {
    /**
     * Runs one attempt unless the door is closed. `check` answers undefined for a wrong credential,
     * which counts; what it throws does not. A success clears the count, unless `clears` says that
     * it is not yet one. Attempts that share a dimension take turns, so a burst
     * cannot slip through between a failure and its count.
     */
    attempt<Result>(
      service: ThrottledService,
      dimensions: Dimension[],
      check: () => Promise<Result | undefined>,
      { clears = () => true }: { clears?: (result: Result) => boolean } = {},
    ): Promise<Result | undefined> {
      const names = dimensions.map((one) => `${service} ${JSON.stringify(one)}`)
      return inTurn(names, async () => {
        await refuseBlocked(service, dimensions)
        const result = await check()
        for (const dimension of dimensions) {
          if (result === undefined) await countFailure(service, dimension)
          else if (clears(result)) await attempts.clear(db, service, dimension)
        }
        return result
      })
    },
  }
}

export const loginDimensions = (ip: string, username: string): Dimension[] => [
  { client_ip: ip },
  { username },
]
