import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App } from '../../test/support/app.ts'
import {
  type ArchiveHost,
  letter,
  startArchiveHost,
  type Tenant,
  uploaded,
} from '../../test/support/archive-host.ts'
import { archiveMetrics } from '../features/archive/archive.metrics.ts'
import { openStorages, type Storages } from '../features/archive/storage/storage.ts'
import { readBack } from '../features/archive/tasks/read-back.ts'
import { archiveDamaged } from '../features/platform/alerts/host-figures.ts'
import { DAY_MS, HOUR_MS } from '../lib/time.ts'

let host: ArchiveHost
let app: App
let acme: Tenant
let storages: Storages
beforeAll(async () => {
  host = await startArchiveHost()
  app = host.app
  acme = await host.adminOf('acme')
  // Object storage refuses requests whose time is wrong, and the clock of the checks moves.
  storages = openStorages({ ...app.core, now: () => new Date() })
  for (const subject of ['one', 'two', 'three']) await host.pass(acme.email, letter(subject))
  await uploaded(acme, 3)
})
afterAll(async () => {
  storages.close()
  await host.stop()
})

/** The job of each hour. */
const hourly = (signal = new AbortController().signal) => readBack(storages, signal).run(app.core)

const checks = () =>
  app.core.db
    .selectFrom('archive_checks')
    .select(['finished_at', 'checked', 'damaged'])
    .orderBy('begun_at')
    .execute()

const metrics = async () => {
  const text = await archiveMetrics(app.core, { uploaded: 0, failed: 0 })
  const of = (name: string) => {
    const found = new RegExp(`^archiver_check_${name} (.*)$`, 'm').exec(text)
    return found ? Math.round(Number(found[1])) : null
  }
  expect(text).toContain('# TYPE archiver_check_damaged gauge')
  return { checked: of('checked'), damaged: of('damaged'), age: of('age_seconds') }
}

it('reads the archive back once a week, and again within the hour after an interruption', async () => {
  expect(await metrics()).toEqual({ checked: null, damaged: null, age: null })
  expect(await archiveDamaged(app.core)).toBeNull()

  await hourly()
  expect(await checks()).toMatchObject([{ checked: 3, damaged: 0 }])
  app.clock.advance(7 * DAY_MS - HOUR_MS)
  await hourly()
  expect(await checks()).toHaveLength(1)
  const age = (7 * DAY_MS - HOUR_MS) / 1000
  const shown = await metrics()
  expect(shown).toMatchObject({ checked: 3, damaged: 0 })
  expect(shown.age).toBeGreaterThanOrEqual(age)
  expect(shown.age).toBeLessThan(age + HOUR_MS / 1000)

  const [[key] = ['']] = host.objectsOf(acme)
  host.s3.damage(key, (bytes) => bytes.subarray(0, -1))
  app.clock.advance(2 * HOUR_MS)
  const stopping = new AbortController()
  stopping.abort()
  await hourly(stopping.signal)
  await host.s3.away()
  await expect(hourly()).rejects.toThrow(/object storage unreachable/)
  await host.s3.back()
  expect((await checks()).map(({ finished_at }) => finished_at !== null)).toEqual([
    true,
    false,
    false,
  ])
  // An interrupted check does not hide the age of the complete one.
  expect(await metrics()).toMatchObject({ checked: 3, damaged: 0 })
  expect((await metrics()).age).toBeGreaterThan((7 * DAY_MS) / 1000)

  await hourly()
  expect((await checks()).at(-1)).toMatchObject({ checked: 3, damaged: 1 })
  expect(await metrics()).toMatchObject({ checked: 3, damaged: 1 })
  expect((await metrics()).age).toBeLessThan(HOUR_MS / 1000)
  expect(await archiveDamaged(app.core)).toBe(1)
  app.clock.advance(HOUR_MS)
  await hourly()
  expect(await checks()).toHaveLength(4)
})
