import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { claimAttempt } from './restarts.repository.ts'
import { deleteOldRestarts } from './restarts.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('deletes restart attempts after 90 days and keeps younger ones', async () => {
  const { db, now } = app.core
  for (const [service, days] of [
    ['old', 91],
    ['recent', 89],
  ] as const) {
    const time = new Date(now().getTime() - days * DAY_MS)
    const attempt = { id: ulid(), service, automatic: true, reason: null, now: time }
    await claimAttempt(db, attempt, false)
  }
  await deleteOldRestarts.run(app.core)
  const rows = await db.selectFrom('service_restarts').select('service').execute()
  expect(rows).toEqual([{ service: 'recent' }])
})
