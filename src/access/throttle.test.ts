import { describe, expect, it } from 'vitest'
import { blockMs, policies, type ThrottledService } from './throttle.ts'

const MINUTE = 60

/** Seconds that each failure in a row closes the door for. */
const curve = (service: ThrottledService, failures: number) =>
  Array.from({ length: failures }, (_, index) => blockMs(policies[service], index + 1) / 1000)

describe('the wait after a failure', () => {
  it.each(['api', 'webmail'] as const)(
    'begins with the 3rd failed login of %s and is 15 minutes from the 5th on',
    (service) => {
      expect(curve(service, 7)).toEqual([0, 0, 15, 30, 15 * MINUTE, 15 * MINUTE, 15 * MINUTE])
    },
  )

  it.each(['operator', 'operator_mfa'] as const)(
    'begins with the first failure of %s and is 15 minutes from the 3rd on',
    (service) => {
      expect(curve(service, 5)).toEqual([15, 30, 15 * MINUTE, 15 * MINUTE, 15 * MINUTE])
    },
  )

  it('doubles from the 5th invalid API key on and is never longer than its 5 minutes', () => {
    expect(curve('api_key', 10)).toEqual([0, 0, 0, 0, 15, 30, 60, 120, 240, 5 * MINUTE])
    expect(new Set(curve('api_key', 40).slice(9))).toEqual(new Set([5 * MINUTE]))
  })
})
