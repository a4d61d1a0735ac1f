import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { BackupHostNotFound } from './backups.errors.ts'
import * as backups from './backups.repository.ts'

const NEWEST_RUNS = 10
const STALE_MS = 26 * HOUR_MS

export type BackupsService = ReturnType<typeof backupsService>

export const backupsService = ({
  change,
  config,
  db,
  now,
}: Pick<Core, 'change' | 'config' | 'db' | 'now'>) => ({
  report: (caller: Caller, report: backups.Report) =>
    change(caller, (tx) => backups.reportRun(tx, report, now())),

  async forgetHost(caller: Caller, hostname: string) {
    const removed_runs = await change(caller, async (tx) => {
      const removed = await backups.removeHost(tx, hostname)
      if (removed === 0) throw new BackupHostNotFound()
      return removed
    })
    return { hostname, removed_runs }
  },

  async list(filter: backups.RunFilter, sort: backups.RunSort, page: Page) {
    const { items, total } = await backups.list(db, filter, sort, page)
    return paginated(items, total, page)
  },

  async status() {
    const [totals, runs, hostRows, last_drill] = await Promise.all([
      backups.totals(db),
      backups.newest(db, NEWEST_RUNS),
      backups.hosts(db),
      backups.lastDrill(db),
    ])
    const staleBefore = new Date(now().getTime() - STALE_MS).toISOString()
    const hosts = hostRows.map((host) => ({
      ...host,
      stale: host.last_success_at === null || host.last_success_at < staleBefore,
    }))
    const schedule = config.BACKUP_SCHEDULE ?? null
    const retention_days = config.BACKUP_RETENTION_DAYS ?? null
    const bucket = config.BACKUP_S3_BUCKET ?? null
    const notes = notesOn({ schedule, retention_days, hosts, last_drill, ...totals })
    return { ...totals, schedule, retention_days, runs, hosts, bucket, last_drill, notes }
  },
})

interface Status {
  schedule: string | null
  retention_days: number | null
  total_runs: number
  hosts: { hostname: string; stale: boolean; unencrypted_runs: number }[]
  last_drill: backups.Drill | null
}

/** Explains empty fields and flags to the reader of the status page. */
function notesOn({ schedule, retention_days, total_runs, hosts, last_drill }: Status): string[] {
  const notes: string[] = []
  if (total_runs === 0) {
    notes.push('No backup was ever reported; `mailplane backup` makes one and reports it.')
  }
  if (schedule === null) notes.push('BACKUP_SCHEDULE is not set, so no schedule is shown.')
  if (retention_days === null) notes.push('BACKUP_RETENTION_DAYS is not set: nothing is removed.')
  for (const { hostname, stale, unencrypted_runs } of hosts) {
    if (stale) notes.push(`${hostname} has completed no backup in the last 26 hours.`)
    if (unencrypted_runs > 0) notes.push(`${hostname} has ${unencrypted_runs} unencrypted runs.`)
  }
  if (total_runs > 0 && last_drill === null) {
    notes.push('No backup was ever restored for a test; `mailplane backup drill` does it.')
  }
  if (last_drill?.passed === false) {
    notes.push(`The last restore drill found ${last_drill.problems.length} problems.`)
  }
  return notes
}
