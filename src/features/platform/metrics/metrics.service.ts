import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import type { RangeMetric } from './metric-names.ts'
import { queryPrometheus } from './prometheus.ts'
import { samplesBetween } from './samples.repository.ts'

const MAX_HOURS = 168
const SAMPLE_SECONDS = 60
const MAX_POINTS = 11_000
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

export type MetricsService = ReturnType<typeof metricsService>

export const metricsService = ({ config, db, now }: Pick<Core, 'config' | 'db' | 'now'>) => ({
  /** From Prometheus where there is one, else from what the monitoring has sampled. */
  async range(metric: RangeMetric, wantedHours: number, wantedStep: string | undefined) {
    const hours = Math.min(wantedHours, MAX_HOURS)
    const end = now()
    const start = new Date(end.getTime() - hours * 3600_000)
    const backend = config.PROMETHEUS_URL
    let step = wantedStep ?? stepFor(hours)
    let stepSeconds = secondsOf(step)
    if (backend === undefined && stepSeconds < SAMPLE_SECONDS) {
      // There is nothing between two samples.
      step = '1m'
      stepSeconds = SAMPLE_SECONDS
    }
    if ((hours * 3600) / stepSeconds > MAX_POINTS) {
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
  if (seconds < 1 || seconds > MAX_HOURS * 3600) {
    throw new Unprocessable('step must be a number with s, m, h or d, of at most 168 hours: 5m')
  }
  return seconds
}
