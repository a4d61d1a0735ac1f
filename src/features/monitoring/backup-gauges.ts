import { hostname } from 'node:os'
import type { Core } from '../../core.ts'
import { type Gauge, gauges } from '../platform/backups/backups.repository.ts'

/** Ten years: what has never been backed up is older than any threshold. */
const NEVER_SECONDS = 315_360_000

/** How old the backups of each host are, and how the last one went, for a scraper. */
export async function backupGauges({ db, now }: Pick<Core, 'db' | 'now'>): Promise<string> {
  const found = await gauges(db)
  const none: Gauge = {
    hostname: hostname(),
    backup_type: 'full',
    last_success_at: null,
    last_status: 'failed',
    last_size_bytes: 0,
    unencrypted_runs: 0,
  }
  const all = found.length > 0 ? found : [none]
  const time = now().getTime()
  const age = ({ last_success_at }: Gauge) =>
    last_success_at === null
      ? NEVER_SECONDS
      : Math.max(0, Math.round((time - Date.parse(last_success_at)) / 1000))
  const lines = (name: string, value: (gauge: Gauge) => number) => [
    `# TYPE monitoring_backup_${name} gauge`,
    ...all.map((gauge) => `monitoring_backup_${name}${labelsOf(gauge)} ${value(gauge)}`),
  ]
  return [
    ...lines('age_seconds', age),
    ...lines('last_status', ({ last_status }) => (last_status === 'completed' ? 1 : 0)),
    ...lines('last_size_bytes', ({ last_size_bytes }) => last_size_bytes ?? 0),
    ...lines('unencrypted_runs', ({ unencrypted_runs }) => unencrypted_runs),
  ].join('\n')
}

const labelsOf = ({ hostname: host, backup_type }: Gauge) =>
  `{host="${escaped(host)}",backup_type="${escaped(backup_type)}"}`

/** A host name is whatever somebody reported. */
const escaped = (text: string) =>
  text
    .replace(/[\\"]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(/[\r\0]/g, '')
