import { InvalidAlerts } from './ingestion.errors.ts'

type Fields = Record<string, unknown>

const MAX_CHARACTERS = 4000

/** The alerts of a notification, each in the words of the event. */
export function readAlerts(payload: unknown) {
  const { alerts, receiver, groupKey, externalURL } = asFields(payload)
  if (!Array.isArray(alerts)) throw new InvalidAlerts()
  return alerts.map((entry) => {
    const alert = asFields(entry)
    const labels = words(alert.labels)
    const annotations = words(alert.annotations)
    return {
      // First: what is about one alert is sent in the order it happened.
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

const words = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value === undefined || value === null ? {} : asFields(value)).map(
      ([name, word]) => [name, text(word)],
    ),
  )
