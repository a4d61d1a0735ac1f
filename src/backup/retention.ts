import type { Config } from '../config/index.ts'
import { DAY_MS } from '../lib/time.ts'
import { stampOf } from './files.ts'

export type Retention = Pick<
  Config,
  'BACKUP_KEEP_DAILY' | 'BACKUP_KEEP_WEEKLY' | 'BACKUP_RETENTION_DAYS'
>

/**
 * Chooses the backups that no rule keeps. Without a rule all are kept, and the newest one always is.
 * Days and weeks without a backup do not count, so that a pause removes nothing.
 */
export function expired(stamps: readonly string[], rules: Retention, now: Date): string[] {
  const { BACKUP_KEEP_DAILY, BACKUP_KEEP_WEEKLY, BACKUP_RETENTION_DAYS: days } = rules
  if (BACKUP_KEEP_DAILY === undefined && BACKUP_KEEP_WEEKLY === undefined && days === undefined) {
    return []
  }
  const newestFirst = [...stamps].sort().reverse()
  const kept = new Set([
    ...newestFirst.slice(0, 1),
    ...newestOfEach(newestFirst, dayOf).slice(0, BACKUP_KEEP_DAILY ?? 0),
    ...newestOfEach(newestFirst, weekOf).slice(0, BACKUP_KEEP_WEEKLY ?? 0),
  ])
  const oldest = days === undefined ? undefined : stampOf(new Date(now.getTime() - days * DAY_MS))
  return newestFirst.filter((stamp) => !kept.has(stamp) && (oldest === undefined || stamp < oldest))
}

const dayOf = (stamp: string): string => stamp.slice(0, 8)

/** The number of the week since the first Monday of 1970. */
function weekOf(stamp: string): string {
  const day = `${stamp.slice(0, 4)}-${stamp.slice(4, 6)}-${stamp.slice(6, 8)}T00:00:00Z`
  return String(Math.floor((Date.parse(day) / DAY_MS - 4) / 7))
}

function newestOfEach(newestFirst: readonly string[], periodOf: (stamp: string) => string) {
  const seen = new Set<string>()
  return newestFirst.filter((stamp) => {
    const period = periodOf(stamp)
    return !seen.has(period) && seen.add(period)
  })
}
