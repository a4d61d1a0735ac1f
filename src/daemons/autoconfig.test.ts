import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { autoconfig } from './autoconfig.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('the service autoconfig counts TLS reports in its metrics', async () => {
  const daemon = await autoconfig.start(app.core)
  expect(await daemon.metrics?.()).toContain('autoconfig_tls_reports_total{outcome="stored"} 0')
  await daemon.stop()
})
