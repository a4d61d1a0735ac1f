import { cpus, freemem, totalmem } from 'node:os'
import { Counter, Gauge, Registry } from 'prom-client'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import { VERSION } from '../version.ts'
import { RecentSummary } from './recent-summary.ts'

export type Metrics = ReturnType<typeof metrics>

/**
 * The metrics of one service, in a registry of its own: several services share a process. Paths
 * are route templates, so that the number of series is bounded and no e-mail address is a label.
 */
export function metrics(service: string) {
  const registry = new Registry()
  describeProcess(registry, service)
  const labelNames = ['method', 'path', 'status_code'] as const
  const requests = new Counter({
    name: `${service}_http_requests_total`,
    help: 'Requests answered',
    labelNames,
    registers: [registry],
  })
  const errors = new Counter({
    name: `${service}_http_errors_total`,
    help: 'Requests answered with status 400 or above',
    labelNames,
    registers: [registry],
  })
  const durations = new RecentSummary({
    name: `${service}_http_request_duration_seconds`,
    help: 'Time to answer, over the last 1000 requests of each route',
    labelNames: ['method', 'path'],
    registers: [registry],
  })
  const totals = { requests: 0, errors: 0 }
  const extensions: (() => Promise<string>)[] = []

  return {
    observe(method: string, path: string, status: number, seconds: number) {
      const labels = { method, path, status_code: status }
      requests.inc(labels)
      totals.requests++
      if (status >= 400) {
        errors.inc(labels)
        totals.errors++
      }
      durations.observe({ method, path }, seconds)
    },

    /** Adds metrics that the daemon behind the service renders at each scrape. */
    extend(render: () => Promise<string>) {
      extensions.push(render)
    },

    /** Since the start, over all routes. */
    totals: () => ({ ...totals }),

    async render(): Promise<string> {
      const pages = await Promise.all([registry.metrics(), ...extensions.map((render) => render())])
      return pages.join('')
    },
  }
}

function describeProcess(registry: Registry, service: string): void {
  const started = Date.now()
  new Gauge({
    name: `${service}_info`,
    help: 'Version of the service',
    labelNames: ['version', 'service'],
    registers: [registry],
  }).set({ version: VERSION, service }, 1)
  scrapedCounter(
    { registry, name: `${service}_uptime_seconds`, help: 'Seconds since the service started' },
    () => (Date.now() - started) / 1000,
  )
  scrapedGauge(
    { registry, name: `${service}_cpu_usage_percent`, help: 'CPU in use on this host' },
    cpuReader(),
  )
  scrapedGauge(
    { registry, name: `${service}_memory_usage_percent`, help: 'Memory in use on this host' },
    () => (100 * usedMemory()) / totalmem(),
  )
  scrapedGauge(
    { registry, name: `${service}_memory_usage_bytes`, help: 'Memory in use on this host' },
    usedMemory,
  )
}

const usedMemory = () => totalmem() - freemem()

/** CPU use in percent between two readings; the first is since the reader was made. */
function cpuReader(): () => number {
  let before = cpuTimes()
  let percent = 0
  return () => {
    const now = cpuTimes()
    const total = now.total - before.total
    if (total > 0) percent = 100 * (1 - (now.idle - before.idle) / total)
    before = now
    return percent
  }
}

function cpuTimes() {
  let idle = 0
  let total = 0
  for (const { times } of cpus()) {
    idle += times.idle
    total += times.user + times.nice + times.sys + times.idle + times.irq
  }
  return { idle, total }
}
