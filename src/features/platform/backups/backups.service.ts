import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import * as backups from './backups.repository.ts'

const SHOWN_RUNS = 10
const STALE_MS = 26 * 60 * 60 * 1000

export type BackupsService = ReturnType<typeof backupsService>

export const backupsService = ({
  change,
  config,
  db,
  now,
}: Pick<Core, 'change' | 'config' | 'db' | 'now'>) => ({
  report: (caller: Caller, report: backups.Report) =>
    change(caller, (tx) => backups.reportRun(tx, report, now())),

  async list(filter: backups.RunFilter, sort: backups.RunSort, page: Page) {
    const { items, total } = await backups.list(db, filter, sort, page)
    return paginated(items, total, page)
  },

  async status() {
    const [totals, runs, found] = await Promise.all([
      backups.totals(db),
      backups.newest(db, SHOWN_RUNS),
      backups.hosts(db),
    ])
    const oldest = new Date(now().getTime() - STALE_MS).toISOString()
    const hosts = found.map((host) => ({
      ...host,
      stale: host.last_success_at === null || host.last_success_at < oldest,
    }))
    const schedule = config.BACKUP_SCHEDULE ?? null
    const retention_days = config.BACKUP_RETENTION_DAYS ?? null
    const notes = notesOn({ schedule, retention_days, hosts, ...totals })
    return { ...totals, schedule, retention_days, runs, hosts, notes }
  },
})

interface Standing {
  schedule: string | null
  retention_days: number | null
  total_runs: number
  hosts: { hostname: string; stale: boolean; unencrypted_runs: number }[]
}

/** What an empty field or a flag means, for whoever looks at the page. */
function notesOn({ schedule, retention_days, total_runs, hosts }: Standing): string[] {
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
  return notes
}
