import { cpus, freemem, totalmem } from 'node:os'
import { VERSION } from '../version.ts'

const WINDOW = 1000
const QUANTILES = [0.5, 0.95, 0.99]

export type Metrics = ReturnType<typeof metrics>

/**
 * What one service tells a scraper. Paths are route templates, so that the number of series stays
 * bounded and no address ends up in a label.
 */
export function metrics(service: string) {
  const started = Date.now()
  const requests = new Map<string, number>()
  const errors = new Map<string, number>()
  const durations = new Map<string, Durations>()
  const gauges: (() => string | Promise<string>)[] = []
  let cpuBefore = cpuTimes()
  let cpuPercent = 0

  return {
    observe(method: string, path: string, status: number, seconds: number) {
      const labels = `method="${method}",path="${path}",status_code="${status}"`
      requests.set(labels, (requests.get(labels) ?? 0) + 1)
      if (status >= 400) errors.set(labels, (errors.get(labels) ?? 0) + 1)
      const route = `method="${method}",path="${path}"`
      let observed = durations.get(route)
      if (!observed) {
        observed = new Durations()
        durations.set(route, observed)
      }
      observed.add(seconds)
    },

    /** Lines that a feature adds, computed when asked for. */
    extend(lines: () => string | Promise<string>) {
      gauges.push(lines)
    },

    /** Since the start, over all routes. */
    totals: () => ({ requests: sum(requests), errors: sum(errors) }),

    async render(): Promise<string> {
      const cpuNow = cpuTimes()
      const total = cpuNow.total - cpuBefore.total
      if (total > 0) cpuPercent = 100 * (1 - (cpuNow.idle - cpuBefore.idle) / total)
      cpuBefore = cpuNow
      const used = totalmem() - freemem()
      const name = (suffix: string) => `${service}_${suffix}`
      const lines = [
        ...single(
          name('info'),
          'gauge',
          'Version of the service',
          1,
          `version="${VERSION}",service="${service}"`,
        ),
        ...single(
          name('uptime_seconds'),
          'counter',
          'Seconds since the service started',
          (Date.now() - started) / 1000,
        ),
        ...single(name('cpu_usage_percent'), 'gauge', 'CPU in use on this host', cpuPercent),
        ...single(
          name('memory_usage_percent'),
          'gauge',
          'Memory in use on this host',
          (100 * used) / totalmem(),
        ),
        ...single(name('memory_usage_bytes'), 'gauge', 'Memory in use on this host', used),
        ...counters(name('http_requests_total'), 'Requests answered', requests),
        ...counters(
          name('http_errors_total'),
          'Requests answered with status 400 or above',
          errors,
        ),
        ...summaries(name('http_request_duration_seconds'), durations),
      ]
      for (const more of gauges) lines.push(await more())
      return `${lines.join('\n')}\n`
    },
  }
}

const sum = (counts: Map<string, number>): number => {
  let total = 0
  for (const count of counts.values()) total += count
  return total
}

/** The last thousand observations of one route. */
class Durations {
  #ring: Float64Array = new Float64Array(8)
  count = 0
  sum = 0

  add(seconds: number) {
    if (this.count === this.#ring.length && this.#ring.length < WINDOW) {
      const larger = new Float64Array(Math.min(this.#ring.length * 4, WINDOW))
      larger.set(this.#ring)
      this.#ring = larger
    }
    this.#ring[this.count % this.#ring.length] = seconds
    this.count++
    this.sum += seconds
  }

  quantiles(): number[] {
    const sorted = this.#ring.slice(0, Math.min(this.count, this.#ring.length)).sort()
    return QUANTILES.map((quantile) => sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0)
  }
}

const head = (name: string, type: string, help: string) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
]

const single = (name: string, type: string, help: string, value: number, labels = '') => [
  ...head(name, type, help),
  `${name}${labels && `{${labels}}`} ${value}`,
]

const counters = (name: string, help: string, values: Map<string, number>) => [
  ...head(name, 'counter', help),
  ...Array.from(values, ([labels, value]) => `${name}{${labels}} ${value}`),
]

const summaries = (name: string, routes: Map<string, Durations>) => [
  ...head(name, 'summary', 'Time to answer, over the last 1000 requests of each route'),
  ...Array.from(routes).flatMap(([labels, observed]) => [
    ...observed
      .quantiles()
      .map((value, index) => `${name}{${labels},quantile="${QUANTILES[index]}"} ${value}`),
    `${name}_sum{${labels}} ${observed.sum}`,
    `${name}_count{${labels}} ${observed.count}`,
  ]),
]

function cpuTimes() {
  let idle = 0
  let total = 0
  for (const { times } of cpus()) {
    idle += times.idle
    total += times.user + times.nice + times.sys + times.idle + times.irq
  }
  return { idle, total }
}
