import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { HOUR_MS } from '../../lib/time.ts'
import { reportRun } from '../platform/backups/backups.repository.ts'
import { backupGauges } from './backup-gauges.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const run = { backup_id: 'b', backup_type: 'full', target: 'all', encrypted: true } as const

it('exports a backup age of ten years when there was no backup', async () => {
  expect(await backupGauges(app.core)).toMatch(
    /^monitoring_backup_age_seconds\{host="[^"]+",backup_type="full"\} 315360000$/m,
  )
})

it('exports age, status, size and unencrypted runs of backups for each host', async () => {
  const { db, now } = app.core
  const hourAgo = new Date(now().getTime() - HOUR_MS)
  await reportRun(db, { ...run, hostname: 'a', status: 'completed', size_bytes: 7 }, hourAgo)
  const failed = { ...run, hostname: 'b"\n} 1', status: 'failed', encrypted: false } as const
  await reportRun(db, failed, now())
  const text = await backupGauges(app.core)
  expect(text).toMatch(/age_seconds\{host="a",backup_type="full"\} 360\d$/m)
  expect(text).toContain('last_status{host="a",backup_type="full"} 1')
  // This host has reported nothing yet (B5.9).
  expect(text).toContain(`age_seconds{host="${hostname()}",backup_type="full"} 315360000`)
  expect(text).toContain('last_size_bytes{host="a",backup_type="full"} 7')
  expect(text).toContain('age_seconds{host="b\\"\\n} 1",backup_type="full"} 315360000')
  expect(text).toContain('last_status{host="b\\"\\n} 1",backup_type="full"} 0')
  expect(text).toContain('unencrypted_runs{host="b\\"\\n} 1",backup_type="full"} 1')
})
