import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { DAY_SECONDS, HOUR_MS, HOUR_SECONDS, MINUTE_SECONDS } from '../../../lib/time.ts'
import type { RangeMetric } from './metric-names.ts'
import { queryPrometheus } from './prometheus.ts'
import { samplesBetween } from './samples.repository.ts'

const MAX_HOURS = 168
const SAMPLE_SECONDS = 60
const MAX_POINTS = 11_000
const UNITS: Record<string, number> = { s: 1, m: MINUTE_SECONDS, h: HOUR_SECONDS, d: DAY_SECONDS }

export type MetricsService = ReturnType<typeof metricsService>

export const metricsService = ({ config, db, now }: Pick<Core, 'config' | 'db' | 'now'>) => ({
  /** Reads from Prometheus when PROMETHEUS_URL is set, else from the samples of the monitoring. */
  async range(metric: RangeMetric, requestedHours: number, requestedStep: string | undefined) {
    const hours = Math.min(requestedHours, MAX_HOURS)
    const end = now()
    const start = new Date(end.getTime() - hours * HOUR_MS)
    const backend = config.PROMETHEUS_URL
    let step = requestedStep ?? stepFor(hours)
    let stepSeconds = secondsOf(step)
    if (backend === undefined && stepSeconds < SAMPLE_SECONDS) {
      // Samples are one minute apart.
      step = '1m'
      stepSeconds = SAMPLE_SECONDS
    }
    if ((hours * HOUR_SECONDS) / stepSeconds > MAX_POINTS) {
      throw new Unprocessable(`step is too small: at most ${MAX_POINTS} points a series are shown`)
    }
    const range = { start, end, stepSeconds }
    const series =
      backend === undefined
        ? await samplesBetween(db, metric, range)
        : await queryPrometheus(backend, metric, range)
    return { series, start: start.toISOString(), end: end.toISOString(), step }
  },
})

function stepFor(hours: number): string {
  if (hours <= 6) return '1m'
  if (hours <= 24) return '5m'
  return hours <= 72 ? '15m' : '1h'
}

function secondsOf(step: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(step) ?? []
  const seconds = Number(count) * (UNITS[unit] ?? 0)
  if (seconds < 1 || seconds > MAX_HOURS * HOUR_SECONDS) {
    throw new Unprocessable('step must be a number with s, m, h or d, of at most 168 hours: 5m')
  }
  return seconds
}
