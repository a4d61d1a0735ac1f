import { hostname } from 'node:os'
import { Gauge as Metric, Registry } from 'prom-client'
import type { Core } from '../../core.ts'
import { type Gauge, gauges } from './backup-gauges.repository.ts'

/** Ten years: a host without a backup exceeds any alert threshold. */
const NEVER_SECONDS = 315_360_000

/** Renders the age of the backups of each host and the result of the last one. */
export async function backupGauges({ db, now }: Pick<Core, 'db' | 'now'>): Promise<string> {
  const rows = await gauges(db)
  const none: Gauge = {
    hostname: hostname(),
    backup_type: 'full',
    last_success_at: null,
    last_status: 'failed',
    last_size_bytes: 0,
    unencrypted_runs: 0,
  }
  const isReported = rows.some((row) => row.hostname === none.hostname)
  const backups = isReported ? rows : [none, ...rows]
  const time = now().getTime()
  const registry = new Registry()
  const add = (name: string, help: string, value: (backup: Gauge) => number) => {
    const metric = new Metric({
      name: `monitoring_backup_${name}`,
      help,
      labelNames: ['host', 'backup_type'],
      registers: [registry],
    })
    for (const backup of backups) metric.set(labelsOf(backup), value(backup))
  }
  add('age_seconds', 'Age of the last successful backup', ({ last_success_at }) =>
    last_success_at === null
      ? NEVER_SECONDS
      : Math.max(0, Math.round((time - Date.parse(last_success_at)) / 1000)),
  )
  add('last_status', '1 if the last backup completed', ({ last_status }) =>
    last_status === 'completed' ? 1 : 0,
  )
  add('last_size_bytes', 'Size of the last backup', ({ last_size_bytes }) => last_size_bytes ?? 0)
  add('unencrypted_runs', 'Backups without encryption', (backup) => backup.unencrypted_runs)
  return registry.metrics()
}

/** The host reports its own name; prom-client escapes all but these two characters. */
const labelsOf = ({ hostname: host, backup_type }: Gauge) => ({
  host: host.replace(/[\r\0]/g, ''),
  backup_type: backup_type.replace(/[\r\0]/g, ''),
})
