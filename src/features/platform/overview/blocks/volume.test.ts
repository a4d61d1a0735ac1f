import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../../test/support/app.ts'
import { rememberedVolume, volume } from './volume.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
  await app.tenant('acme')
})
afterAll(() => app.stop())

const MINUTE_MS = 60_000
let time = new Date('2026-11-15T12:30:00.000Z')
const pass = (minutes: number) => {
  time = new Date(time.getTime() + minutes * MINUTE_MS)
}
let count = 0
/** A message that left so long ago. */
const sent = (minutesAgo: number) =>
  app.core.db
    .insertInto('mail_log')
    .values({
      id: `volume-${count++}`,
      sender: 'a@acme.test',
      recipient: 'b@elsewhere.test',
      status: 'sent',
      timestamp: new Date(time.getTime() - minutesAgo * MINUTE_MS).toISOString(),
    })
    .execute()

it('shows news of the last hours at once, and what was logged late within minutes', async () => {
  const needs = { ...app.core, now: () => time }
  const remembered = rememberedVolume(needs)
  const total = async () => (await remembered()).reduce((sum, hour) => sum + hour.sent, 0)
  await sent(5)
  await sent(10 * 60)
  expect(await total()).toBe(2)
  await sent(1)
  await sent(45)
  await sent(9 * 60)
  expect(await total()).toBe(4)
  pass(6)
  expect(await total()).toBe(5)
  // The next hour begins: the day moves on by one.
  pass(30)
  await sent(70)
  expect(await total()).toBe(6)
  expect(await remembered()).toEqual(await volume(needs, null))
  pass(24 * 60)
  expect(await total()).toBe(0)
})
