import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type KeptLease, keepLease, LeaseLost, newLease } from './lease.ts'

const lease = newLease(10)
const log = { warn: vi.fn() } as unknown as Parameters<typeof keepLease>[2]['log']
let kept: KeptLease

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(async () => {
  await kept.stop()
  vi.useRealTimers()
})

const keep = (renew: () => Promise<boolean>) => {
  kept = keepLease(lease, renew, { log })
}
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

it('keeps a lease that is renewed for many times its length', async () => {
  const renew = vi.fn(async () => true)
  keep(renew)
  await pass(95)
  expect(renew).toHaveBeenCalledTimes(28)
  expect(kept.signal.aborted).toBe(false)
  expect(kept.lastsFor(4000)).toBe(true)
  expect(kept.lastsFor(10_000)).toBe(false)
})

it('signals the loss when another process has claimed the row', async () => {
  keep(async () => false)
  await pass(3.4)
  expect(kept.signal.reason).toBeInstanceOf(LeaseLost)
  expect(kept.lastsFor(0)).toBe(false)
})

it('survives a failed renewal that is followed by a successful one', async () => {
  const renew = vi.fn(async () => true).mockRejectedValueOnce(new Error('connection reset'))
  keep(renew)
  await pass(30)
  expect(kept.signal.aborted).toBe(false)
})

it.each([
  ['fail', () => Promise.reject(new Error('connection refused'))],
  ['hang', () => new Promise<boolean>(() => {})],
])('signals the loss before the lease ends in the database when renewals %s', async (_, renew) => {
  keep(renew)
  await pass(7.9)
  expect(kept.signal.aborted).toBe(false)
  await pass(0.2)
  expect(kept.signal.reason).toBeInstanceOf(LeaseLost)
  // A hanging renewal would keep stop() waiting.
  kept = keepLease(lease, async () => true, { log })
})

it('counts a renewal from when it was sent, not from when it was answered', async () => {
  keep(() => new Promise((resolve) => setTimeout(resolve, 4000, true)))
  await pass(7.4)
  expect(kept.lastsFor(3900)).toBe(true)
  expect(kept.lastsFor(4100)).toBe(false)
})

it('renews no lease after it was stopped', async () => {
  const renew = vi.fn(async () => true)
  keep(renew)
  await kept.stop()
  await pass(60)
  expect(renew).not.toHaveBeenCalled()
  expect(kept.signal.aborted).toBe(false)
})
