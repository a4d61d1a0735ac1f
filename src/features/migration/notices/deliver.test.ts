import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { importing, PATH, startImport } from '../../../../test/support/migration-jobs.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { deliverNotices } from './deliver.ts'

let app: App
let delivery: ReturnType<typeof deliverNotices>
beforeAll(async () => {
  app = await startApp({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.0/8', WEBHOOK_TIMEOUT: '60' } })
  delivery = deliverNotices(app.core)
})
afterAll(async () => {
  await delivery.stop()
  await app.stop()
})

/** Starts a job and cancels it, which sends a notice to the URL. */
async function cancelled(tenant: Awaited<ReturnType<App['tenant']>>, url: string) {
  const target = { target_email: tenant.email, webhook_url: url }
  const id = await startImport(tenant, importing(target))
  expect((await tenant.post(`${PATH}/jobs/${id}/cancel`)).status).toBe(200)
  return id
}

it('sends notices while the receivers of another tenant never answer', async () => {
  const [evil, acme] = [await app.tenant('evil'), await app.tenant('acme')]
  const hanging = await startReceiver(() => {})
  const receiver = await startReceiver()
  for (let at = 0; at < 12; at++) await cancelled(evil, hanging.url)
  await waitFor(() => hanging.state.open === 10)
  const id = await cancelled(acme, receiver.url)
  const [notice] = await waitFor(() => receiver.got.length > 0 && receiver.got)
  expect(notice?.json).toMatchObject({ event: 'migration.cancelled', data: { job_id: id } })
  expect(hanging.got).toHaveLength(10)
  // The attempts end, so that the delivery can stop.
  await hanging.stop()
  await receiver.stop()
})
