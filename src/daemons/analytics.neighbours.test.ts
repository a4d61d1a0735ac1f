import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { waitFor } from '../../test/support/wait.ts'
import { analytics } from './analytics.ts'

const PATH = '/api/v1/analytics/reports/scheduled'

let app: App
beforeAll(async () => {
  app = await startApp({
    env: {
      SVC_OUTBOUND_ALLOW: '127.0.0.0/8',
      WEBHOOK_TIMEOUT: '60',
      REPORT_SCHEDULER_INTERVAL_SECONDS: '1',
    },
    daemons: [analytics],
  })
})
afterAll(() => app.stop())

it('sends a scheduled report while receivers of another tenant never answer', async () => {
  const [evil, acme] = [await app.tenant('evil'), await app.tenant('acme')]
  const hanging = await startReceiver(() => {})
  const receiver = await startReceiver()
  const schedule = async ({ post, domain }: typeof acme, webhook_url: string) => {
    const made = await post(PATH, { domain, webhook_url, interval: 'daily' })
    expect(made.status, made.text).toBe(201)
  }
  for (let count = 0; count < 6; count++) await schedule(evil, hanging.url)
  await waitFor(() => hanging.state.open > 0)
  await schedule(acme, receiver.url)
  const [report] = await waitFor(() => receiver.got.length > 0 && receiver.got)
  expect(report?.json).toMatchObject({ domain: 'acme.test' })
  expect(hanging.got).toHaveLength(1)
  // The attempts end, so that the service can stop.
  hanging.state.reply = (_received, response) => response.end()
  await hanging.stop()
  await receiver.stop()
})
