// The recording and alerting rules of Prometheus. Each one names the metrics that it reads, so that a
// renamed metric fails the check and not the alarm.
const HOUR = 3600

const ALERTS = [
  {
    alert: 'MailplaneDown',
    reads: [],
    expr: 'up{job="mailplane"} == 0',
    for: '2m',
    severity: 'critical',
    summary: 'Prometheus cannot read the metrics of {{ $labels.instance }}',
  },
  {
    alert: 'MailplaneServiceDown',
    reads: [],
    expr: 'label_replace({__name__=~".+_service_up"} == 0, "service", "$1", "__name__", "(.+)_service_up")',
    for: '2m',
    severity: 'critical',
    summary: '{{ $labels.service }} does not answer',
  },
  {
    alert: 'MailplaneServerErrors',
    reads: ['api_http_errors_total', 'api_http_requests_total'],
    expr: 'sum by (instance) (rate(api_http_errors_total{status_code=~"5.."}[5m])) / sum by (instance) (rate(api_http_requests_total[5m])) > 0.02',
    for: '10m',
    severity: 'critical',
    summary: '{{ $value | humanizePercentage }} of the API requests fail',
  },
  {
    alert: 'MailplaneDiskFull',
    reads: ['monitoring_system_disk_usage'],
    expr: 'monitoring_system_disk_usage > 85',
    for: '10m',
    severity: 'warning',
    summary: 'The disk of DATA_DIR is {{ $value | humanize }} percent full',
  },
  {
    alert: 'MailplaneBackupOld',
    reads: ['monitoring_backup_age_seconds'],
    expr: `monitoring_backup_age_seconds > ${26 * HOUR}`,
    for: '10m',
    severity: 'critical',
    summary: 'The last backup of {{ $labels.host }} is {{ $value | humanizeDuration }} old',
  },
  {
    alert: 'MailplaneBackupFailed',
    reads: ['monitoring_backup_last_status'],
    expr: 'monitoring_backup_last_status == 0',
    for: '1h',
    severity: 'warning',
    summary: 'The last backup of {{ $labels.host }} failed',
  },
  {
    alert: 'MailplaneWebhooksLate',
    reads: ['webhooks_queue_oldest_seconds'],
    expr: `webhooks_queue_oldest_seconds > ${HOUR}`,
    for: '15m',
    severity: 'warning',
    summary: 'A webhook delivery has waited for {{ $value | humanizeDuration }}',
  },
  {
    alert: 'MailplaneQueueOld',
    reads: ['queue_manager_oldest_age_seconds'],
    // Mail on hold waits on purpose.
    expr: `max by (instance) (queue_manager_oldest_age_seconds{queue!="hold"}) > ${4 * HOUR}`,
    for: '15m',
    severity: 'warning',
    summary: 'A message has been in the mail queue for {{ $value | humanizeDuration }}',
  },
  {
    alert: 'MailplaneArchiveLate',
    reads: ['archiver_spool_oldest_seconds'],
    expr: `archiver_spool_oldest_seconds > ${HOUR}`,
    for: '15m',
    severity: 'critical',
    summary: 'Archived mail has waited for its upload for {{ $value | humanizeDuration }}',
  },
  {
    alert: 'MailplaneArchiveNotDeleted',
    reads: ['archiver_deletions_overdue'],
    expr: 'archiver_deletions_overdue > 0',
    for: '1h',
    severity: 'warning',
    summary: '{{ $value }} objects of deleted mail are still in the storage of the archive',
  },
  {
    alert: 'MailplaneArchiveDamaged',
    reads: ['archiver_check_damaged'],
    expr: 'archiver_check_damaged > 0',
    for: '0m',
    severity: 'critical',
    summary: '{{ $value }} archived messages are damaged or missing',
  },
]

const RATED = /^(.+)_http_(requests|errors)_total$/

/** The text of the rule file. */
export function rulesOf(metrics) {
  const names = new Set(metrics.map(({ name }) => name))
  for (const { alert, reads } of ALERTS) {
    const missing = reads.filter((name) => !names.has(name))
    if (missing.length > 0)
      throw new Error(`${alert} reads ${missing.join()}, which is not declared`)
  }
  const records = metrics.flatMap(({ name }) => {
    const [, service, what] = RATED.exec(name) ?? []
    if (service === undefined) return []
    return [
      `      - record: mailplane:http_${what}:rate5m`,
      `        expr: sum by (instance) (rate(${name}[5m]))`,
      '        labels:',
      `          service: ${service}`,
    ]
  })
  return `${[
    '# Written by `npm run monitoring` from the metrics that the services declare; do not edit.',
    'groups:',
    '  - name: mailplane-rates',
    '    rules:',
    ...records,
    '  - name: mailplane-alerts',
    '    rules:',
    ...ALERTS.flatMap(alertLines),
  ].join('\n')}\n`
}

const alertLines = ({ alert, expr, for: duration, severity, summary }) => [
  `      - alert: ${alert}`,
  `        expr: ${quoted(expr)}`,
  `        for: ${duration}`,
  '        labels:',
  `          severity: ${severity}`,
  '        annotations:',
  `          summary: ${quoted(summary)}`,
]

const quoted = (text) => `'${text.replaceAll("'", "''")}'`
