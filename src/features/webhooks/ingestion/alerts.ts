import { InvalidAlerts } from './ingestion.errors.ts'

type Fields = Record<string, unknown>

const MAX_CHARACTERS = 4000
const MAX_ALERTS = 1000

/** Reads the alerts of an Alertmanager notification as the data of events. */
export function readAlerts(payload: unknown) {
  const { alerts, receiver, groupKey, externalURL } = asFields(payload)
  if (!Array.isArray(alerts) || alerts.length > MAX_ALERTS) throw new InvalidAlerts()
  return alerts.map((entry) => {
    const alert = asFields(entry)
    const labels = textFields(alert.labels)
    const annotations = textFields(alert.annotations)
    return {
      // The first field is the subject: events about one alert keep their order.
      alertname: labels.alertname ?? 'unknown',
      severity: labels.severity ?? 'unknown',
      status: alert.status === 'resolved' ? 'resolved' : 'firing',
      summary: annotations.summary ?? '',
      description: annotations.description ?? '',
      labels,
      annotations,
      starts_at: text(alert.startsAt) || null,
      ends_at: text(alert.endsAt) || null,
      generator_url: text(alert.generatorURL),
      fingerprint: text(alert.fingerprint),
      receiver: text(receiver),
      group_key: text(groupKey),
      external_url: text(externalURL),
    }
  })
}

function asFields(value: unknown): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new InvalidAlerts()
  return value as Fields
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, MAX_CHARACTERS).toWellFormed() : ''

const textFields = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value === undefined || value === null ? {} : asFields(value)).map(
      ([name, label]) => [name, text(label)],
    ),
  )
