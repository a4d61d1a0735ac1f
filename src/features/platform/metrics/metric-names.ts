/** Metrics of the API, each with its PromQL expression over the metrics of the daemons. */
export const expressions = {
  cpu_usage_percent: '{__name__=~".+_cpu_usage_percent"}',
  memory_usage_percent: '{__name__=~".+_memory_usage_percent"}',
  memory_usage_bytes: '{__name__=~".+_memory_usage_bytes"}',
  mail_queue_depth: 'postfix_queue_length',
  mail_delivery_latency_p95_seconds:
    '{__name__=~".+_http_request_duration_seconds",quantile="0.95"}',
  http_request_rate: 'sum by (job) (rate({__name__=~".+_http_requests_total"}[5m]))',
  http_error_rate: 'sum by (job) (rate({__name__=~".+_http_errors_total"}[5m]))',
  service_up: 'up',
} as const

export type RangeMetric = keyof typeof expressions
export const RANGE_METRICS = Object.keys(expressions) as RangeMetric[]

export interface Series {
  metric: string
  label: string
  points: { t: string; v: number }[]
}

export interface Range {
  start: Date
  end: Date
  stepSeconds: number
}
