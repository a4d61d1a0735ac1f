import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startSink } from '../../../../test/support/smtp-sink.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { scheduleRunner } from './run-schedules.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let sink: Awaited<ReturnType<typeof startSink>>
beforeAll(async () => {
  sink = await startSink()
  app = await startApp({
    limiting: true,
    env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(sink.port) },
  })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})

it('S11: counts the recipients of a report for its domain, whose limit holds', async () => {
  const LIMITS = '/api/v1/rate-limiter/rate-limits/domain/acme.test'
  const runDue = async () => {
    const runner = scheduleRunner(app.core)
    await runner.runDue()
    await runner.close()
  }
  const recipients = ['a@elsewhere.test', 'b@elsewhere.test', 'c@elsewhere.test']
  const path = '/api/v1/analytics/reports/scheduled'
  const made = await acme.post(path, { domain: 'acme.test', interval: 'daily', recipients })
  expect(made.status).toBe(201)
  await runDue()
  expect(sink.to('a@elsewhere.test')).toHaveLength(1)
  const { usage } = (await acme.get(LIMITS)).body.data
  expect(usage).toMatchObject({ hourly_count: 3, minute_count: 1 })

  await acme.post(LIMITS, { hourly_limit: 2 })
  app.clock.advance(DAY_MS)
  await runDue()
  expect(sink.to('a@elsewhere.test')).toHaveLength(1)
  const [schedule] = (await acme.get(path)).body.data.schedules
  expect(schedule.last_error).toMatch(/^mail: Rate limit exceeded: domain acme\.test may pass 2 /)
})
