import { describe, expect, it } from 'vitest'
import { MINUTE_SECONDS } from '../lib/time.ts'
import { blockMs, policies, type ThrottledService } from './throttle.ts'

/** The block in seconds after each failure in a row. */
const curve = (service: ThrottledService, failures: number) =>
  Array.from({ length: failures }, (_, index) => blockMs(policies[service], index + 1) / 1000)

describe('the block after a failure', () => {
  it.each(['api', 'webmail'] as const)(
    'starts with the 3rd failed login of %s and lasts 15 minutes from the 5th on',
    (service) => {
      expect(curve(service, 7)).toEqual([
        0,
        0,
        15,
        30,
        15 * MINUTE_SECONDS,
        15 * MINUTE_SECONDS,
        15 * MINUTE_SECONDS,
      ])
    },
  )

  it.each(['operator', 'operator_mfa'] as const)(
    'starts with the 3rd failure of %s and lasts 15 minutes (B3.7)',
    (service) => {
      expect(curve(service, 5)).toEqual([
        0,
        0,
        15 * MINUTE_SECONDS,
        15 * MINUTE_SECONDS,
        15 * MINUTE_SECONDS,
      ])
    },
  )

  it('doubles from the 5th invalid API key on, up to 5 minutes', () => {
    expect(curve('api_key', 10)).toEqual([0, 0, 0, 0, 15, 30, 60, 120, 240, 5 * MINUTE_SECONDS])
    expect(new Set(curve('api_key', 40).slice(9))).toEqual(new Set([5 * MINUTE_SECONDS]))
  })
})
