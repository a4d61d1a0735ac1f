import { metricOf } from '../alert-metrics.ts'

const COLORS: Record<string, string> = {
  critical: '#d7263d',
  warning: '#f2a33c',
  info: '#3d8bfd',
  resolved: '#2e9e5b',
}

export interface Notification {
  title: string
  text: string
  color: string
  fields: { title: string; value: string; short: true }[]
  at: Date
}

interface Condition {
  metric: string
  comparator: string
  threshold: number
}

/** Example: `queue_depth is 12 messages (threshold > 10)`. */
export const sentenceOf = (condition: Condition, value: number | null): string =>
  `${condition.metric} is ${value ?? 'unknown'} ${metricOf(condition.metric).unit} (threshold ${condition.comparator} ${condition.threshold})`

export interface AlertState extends Condition {
  kind: string
  rule_name: string
  severity: string
  value: number | null
  message: string | null
  created_at: string
  resolved_at: string | null
}

export function notificationOf(event: AlertState): Notification {
  const isResolved = event.kind === 'resolved'
  const field = (title: string, value: string) => ({ title, value, short: true as const })
  const since = `since ${event.created_at}`
  return {
    title: isResolved
      ? `Resolved: ${event.rule_name}`
      : `${event.severity.toUpperCase()}: ${event.rule_name}`,
    text: isResolved
      ? `No longer the case: ${event.message ?? event.metric}, from ${event.created_at} to ${event.resolved_at}`
      : `${event.message ?? event.metric}, ${since}`,
    color: COLORS[isResolved ? 'resolved' : event.severity] ?? '',
    fields: [
      field('metric', event.metric),
      field('value', String(event.value ?? 'unknown')),
      field('threshold', String(event.threshold)),
      field('comparator', event.comparator),
      field('severity', event.severity),
      field('state', event.kind),
    ],
    at: new Date(isResolved && event.resolved_at ? event.resolved_at : event.created_at),
  }
}

export const testNotification = (channel: string, now: Date): Notification => ({
  title: 'Test notification',
  text: `This is a test of the alert channel "${channel}". Nothing is wrong.`,
  color: COLORS.info as string,
  fields: [{ title: 'severity', value: 'info', short: true }],
  at: now,
})
