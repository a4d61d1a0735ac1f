import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import { throttleKey } from '../lib/ip.ts'
import { namedMutex } from '../lib/mutex.ts'
import { MINUTE_MS, SECOND_MS } from '../lib/time.ts'
import { TooManyAttempts } from './access.errors.ts'
import type { Dimension } from './throttle.repository.ts'
import * as attempts from './throttle.repository.ts'

const FIRST_WAIT = 15 * SECOND_MS

interface Policy {
  limit: number
  windowMs: number
  backoffFrom: number
}

export const policies = {
  api: { limit: 5, windowMs: 15 * MINUTE_MS, backoffFrom: 3 },
  // The specification asks for no wait before the third failure of an operator.
  operator: { limit: 3, windowMs: 15 * MINUTE_MS, backoffFrom: 3 },
  // Separate from the password step, because a correct password must not clear these failures.
  operator_mfa: { limit: 3, windowMs: 15 * MINUTE_MS, backoffFrom: 3 },
  api_mfa: { limit: 5, windowMs: 15 * MINUTE_MS, backoffFrom: 3 },
  // Every request counts, because the answer does not say whether the address exists.
  password_reset: { limit: 10, windowMs: 15 * MINUTE_MS, backoffFrom: 10 },
  webmail: { limit: 5, windowMs: 15 * MINUTE_MS, backoffFrom: 3 },
  // Calendars and other programs with HTTP Basic; separate from the pages, which ask for the code too.
  mail_program: { limit: 10, windowMs: 15 * MINUTE_MS, backoffFrom: 5 },
  api_key: { limit: 20, windowMs: 5 * MINUTE_MS, backoffFrom: 5 },
} satisfies Record<string, Policy>

export type ThrottledService = keyof typeof policies

/** Length of the block after the n-th failure: doubles from `backoffFrom`, then the whole window. */
export function blockMs({ limit, windowMs, backoffFrom }: Policy, failures: number): number {
  if (failures >= limit) return windowMs
  if (failures < backoffFrom) return 0
  return Math.min(FIRST_WAIT * 2 ** (failures - backoffFrom), windowMs)
}

type Needs = Pick<Core, 'db' | 'now'>

export type Throttle = ReturnType<typeof throttle>

export function throttle({ db, now }: Needs) {
  const inTurn = namedMutex()

  async function rejectBlocked(service: ThrottledService, dimensions: Dimension[]) {
    const until = await attempts.findBlock(db, service, dimensions, now())
    if (until) throw new TooManyAttempts(until, now())
  }

  /** The counterpart is the account of an IP address, or the IP address of an account. */
  async function countFailure(
    service: ThrottledService,
    dimension: Dimension,
    counterpart: string | null,
  ) {
    const reason = 'invalid_credentials'
    const policy = policies[service]
    const time = now()
    const since = new Date(time.getTime() - policy.windowMs)
    await db.transaction().execute(async (tx) => {
      await attempts.lock(tx, service, dimension)
      const row =
        (await attempts.continueRow(tx, service, dimension, since, time, reason, counterpart)) ??
        (await attempts.insertRow(tx, service, dimension, time, reason, counterpart))
      const wait = blockMs(policy, row.failures)
      if (wait > 0) await attempts.setBlock(tx, row.id, new Date(time.getTime() + wait), time)
    })
  }

  return {
    /** Forgets the failures of an account that has a new password. */
    clear: (tx: Db, service: ThrottledService, username: string) =>
      attempts.clear(tx, service, { username }),

    /**
     * Runs one attempt unless it is blocked. When `check` returns undefined, the attempt counts as a
     * failure; an error that it throws does not count. A success clears the count of its account
     * unless `clears` returns false; the count of the IP address stays, or an attacker with one
     * account could guess the passwords of others without end. Attempts that share a dimension run
     * one after the other, so that a burst cannot pass between a failure and its count.
     */
    attempt<Result>(
      service: ThrottledService,
      dimensions: Dimension[],
      check: () => Promise<Result | undefined>,
      { clears = () => true }: { clears?: (result: Result) => boolean } = {},
    ): Promise<Result | undefined> {
      const names = dimensions.map((one) => `${service} ${JSON.stringify(one)}`)
      return inTurn(names, async () => {
        await rejectBlocked(service, dimensions)
        const result = await check()
        for (const dimension of dimensions) {
          if (result === undefined) {
            await countFailure(service, dimension, counterpartOf(dimension, dimensions))
          } else if ('username' in dimension && clears(result)) {
            await attempts.clear(db, service, dimension)
          }
        }
        return result
      })
    },
  }
}

const nameOf = (dimension: Dimension) =>
  'client_ip' in dimension ? dimension.client_ip : dimension.username

function counterpartOf(dimension: Dimension, dimensions: Dimension[]): string | null {
  const other = dimensions.find((one) => 'client_ip' in one !== 'client_ip' in dimension)
  return other ? nameOf(other) : null
}

export const loginDimensions = (ip: string, username: string): Dimension[] => [
  { client_ip: throttleKey(ip) },
  { username },
]
