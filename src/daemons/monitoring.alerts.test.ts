import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { startSink } from '../../test/support/smtp-sink.ts'
import { waitFor } from '../../test/support/wait.ts'
import { monitoring } from './monitoring.ts'

const ALERTS = '/api/v1/platform/alerts'
const AIM_MS = 15_000

let app: App
let sink: Awaited<ReturnType<typeof startSink>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
let running: Awaited<ReturnType<typeof monitoring.start>>[] = []
beforeAll(async () => {
  sink = await startSink()
  receiver = await startReceiver()
  app = await startApp({
    env: {
      SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(sink.port),
    },
  })
})
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await app.stop()
  await receiver.stop()
  await sink.stop()
})

it('sends one e-mail and one webhook within 15 seconds after an alert rule fires', async () => {
  const operator = await app.operator('operator')
  const channel = async (body: object) =>
    (await operator.post(`${ALERTS}/channels`, { name: 'c', ...body })).body.data.id
  const channel_ids = [
    await channel({ type: 'webhook', target: receiver.url }),
    await channel({ type: 'email', target: 'oncall@ops.test' }),
  ]
  await operator.post(`${ALERTS}/rules`, {
    name: 'Quarantine fills',
    metric: 'quarantine_pending',
    comparator: '>',
    threshold: 0,
    channel_ids,
  })
  // Two processes compete; only one at a time evaluates the rules.
  running = [await monitoring.start(app.core), await monitoring.start(app.core)]
  // Wait for an evaluation, so that the next one is a full interval away.
  await waitFor(async () => {
    const rule = await app.core.db
      .selectFrom('alert_rules')
      .select('evaluated_at')
      .executeTakeFirstOrThrow()
    return rule.evaluated_at !== null
  })
  await app.core.db
    .insertInto('quarantine')
    .values({ id: 'q1', reason: 'spam', expires_at: '2099-01-01' })
    .execute()
  const crossed = Date.now()
  await waitFor(() => receiver.got.length > 0 && sink.got.length > 0, AIM_MS)
  expect(Date.now() - crossed).toBeLessThan(AIM_MS)
  expect(receiver.got[0]?.json.text).toContain('quarantine_pending is 1 messages')
  expect(sink.to('oncall@ops.test')[0]?.data).toContain('Quarantine fills')
  await Promise.all(running.splice(0).map((one) => one.stop()))
  expect(receiver.got).toHaveLength(1)
  expect(sink.got).toHaveLength(1)
}, 40_000)
