import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { cachedVolume, volume } from './volume.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
  await app.tenant('acme')
})
afterAll(() => app.stop())

let time = new Date('2026-11-15T12:30:00.000Z')
const advance = (minutes: number) => {
  time = new Date(time.getTime() + minutes * MINUTE_MS)
}
let count = 0
/** Stores a message that was sent `minutesAgo`. */
const sent = (minutesAgo: number) =>
  app.core.db
    .insertInto('mail_log')
    .values({
      id: `volume-${count++}`,
      sender: 'a@acme.test',
      sasl_username: 'a@acme.test',
      recipient: 'b@elsewhere.test',
      status: 'sent',
      timestamp: new Date(time.getTime() - minutesAgo * MINUTE_MS).toISOString(),
    })
    .execute()

it('cachedVolume counts new mail of the last hours at once and late entries within minutes', async () => {
  const needs = { ...app.core, now: () => time }
  const cached = cachedVolume(needs)
  const total = async () => (await cached()).reduce((sum, hour) => sum + hour.sent, 0)
  await sent(5)
  await sent(10 * 60)
  expect(await total()).toBe(2)
  await sent(1)
  await sent(45)
  await sent(9 * 60)
  expect(await total()).toBe(4)
  advance(6)
  expect(await total()).toBe(5)
  // The next hour starts, so the 24 hours move by one.
  advance(30)
  await sent(70)
  expect(await total()).toBe(6)
  expect(await cached()).toEqual(await volume(needs, null))
  advance(24 * 60)
  expect(await total()).toBe(0)
})
