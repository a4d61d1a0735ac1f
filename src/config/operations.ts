import * as env from './env.ts'

/** Monitoring, alerts, reports, mail queue and storage. */
export const operationsVariables = {
  MONITORING_SWEEP_SECONDS: env.integer('Seconds between probes of all services', 10, {
    min: 1,
    max: 3600,
  }),
  MONITORING_HOST_SECONDS: env.integer('Seconds between samples of CPU, memory and disk', 30, {
    min: 1,
    max: 3600,
  }),
  MONITORING_AUTO_HEAL: env.flag('Restart mail servers of a private edge that have died', true),
  ALERT_EVAL_INTERVAL_SECONDS: env.integer('Seconds between evaluations of alert rules', 10, {
    min: 1,
    max: 3600,
  }),
  ALERT_NOTIFICATION_COOLDOWN: env.integer('Seconds before a rule may notify again', 300),
  PROMETHEUS_URL: env.url('Prometheus for metric queries; unset: samples of the monitoring'),
  REPORT_SCHEDULER_INTERVAL_SECONDS: env.integer('Seconds between runs of due reports', 900, {
    min: 1,
    max: 86400,
  }),

  REPORT_MAX_SCHEDULES: env.integer('Scheduled reports per organization', 20, {
    min: 1,
    max: 1000,
  }),
  REPORT_MAX_RECIPIENTS: env.integer(
    'Recipients of all scheduled reports of an organization together',
    100,
    { min: 1, max: 10_000 },
  ),
  QUEUE_MANAGER_URL: env.url(
    'URL of the queue_manager service; unset: the Postfix programs of this machine',
  ),
  STORAGE_WARNING_THRESHOLD: env.integer('Percent of a quota that causes a warning', 80, {
    min: 1,
    max: 100,
  }),
  STORAGE_CRITICAL_THRESHOLD: env.integer('Percent of a quota that counts as exceeded', 95, {
    min: 1,
    max: 100,
  }),
  STORAGE_CALC_INTERVAL: env.integer('Seconds between reports of usage', 3600, { min: 60 }),
  STORAGE_ALERT_COOLDOWN: env.integer('Seconds before the same alert may repeat', 3600),
} as const
