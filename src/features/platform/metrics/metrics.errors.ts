import { defineError } from '../../../errors.ts'

export const MetricsUnavailable = defineError({
  status: 404,
  message: 'The metrics backend at PROMETHEUS_URL cannot be reached',
})
export const MetricsRefused = defineError<string>({
  status: 502,
  message: (what) => `The metrics backend at PROMETHEUS_URL ${what}`,
})
