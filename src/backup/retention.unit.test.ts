import { expect, it } from 'vitest'
import { DAY_MS } from '../lib/time.ts'
import { stampOf } from './files.ts'
import { expired } from './retention.ts'

// A Tuesday.
const now = new Date('2026-11-17T12:00:00Z')
const rules = {
  BACKUP_KEEP_DAILY: undefined,
  BACKUP_KEEP_WEEKLY: undefined,
  BACKUP_RETENTION_DAYS: undefined,
}
const ago = (days: number) => stampOf(new Date(now.getTime() - days * DAY_MS))
const month = Array.from({ length: 31 }, (_, days) => ago(days))
const left = (stamps: string[], more: object) => {
  const gone = new Set(expired(stamps, { ...rules, ...more }, now))
  return stamps.filter((stamp) => !gone.has(stamp))
}

it('keeps everything without a rule', () => {
  expect(left(month, {})).toEqual(month)
})

it('keeps the newest backup of each of the last days and weeks that have one', () => {
  const twice = [...month, stampOf(new Date('2026-11-17T03:00:00Z'))]
  expect(left(twice, { BACKUP_KEEP_DAILY: 3, BACKUP_KEEP_WEEKLY: 3 })).toEqual([
    ago(0),
    ago(1),
    ago(2),
    // The Sundays of the weeks before.
    ago(9),
  ])
})

it('keeps the newest backup however old it is, and those before a pause', () => {
  const old = [ago(400), ago(401)]
  expect(left(old, { BACKUP_RETENTION_DAYS: 30 })).toEqual([ago(400)])
  expect(left(old, { BACKUP_KEEP_DAILY: 2 })).toEqual(old)
})

it('keeps what any rule keeps', () => {
  const kept = left(month, { BACKUP_RETENTION_DAYS: 5, BACKUP_KEEP_WEEKLY: 4 })
  expect(kept).toEqual([...month.slice(0, 6), ago(9), ago(16)])
})
