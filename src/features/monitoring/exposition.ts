import type { FastifyPluginAsync } from 'fastify'
import { Gauge, Registry } from 'prom-client'
import { none } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import { sharedValue } from '../../lib/cache.ts'
import { reachable } from './heartbeat.ts'
import { liveAddresses } from './heartbeats.repository.ts'
import { hostReader } from './host/readings.ts'
import { mailFigures } from './mail-figures.ts'
import { type MetricsPage, mergeMetrics } from './merge-metrics.ts'
import { httpAnswer } from './probes/http-answer.ts'
import { freshStates } from './states.repository.ts'

const KEPT = { freshMs: 1000, staleMs: 10_000 }
const PATIENCE_MS = 3000
const PAGE_MS = 10_000

/** The metrics of all processes of the installation on one page. */
export function expositionRoutes(core: Core): FastifyPluginAsync {
  const { config, db, log, now } = core
  const readHost = hostReader(config.DATA_DIR)
  const figures = mailFigures(core)

  async function pages(): Promise<MetricsPage[]> {
    const addresses = await liveAddresses(db)
    return Promise.all(
      addresses.map(async ({ address, host }) => {
        const url = `${reachable(address, host)}/metrics`
        const text = await httpAnswer(url, { patienceMs: PATIENCE_MS }).catch((error) => {
          log.warn({ address, reason: error.message }, 'reading the metrics of a process failed')
          return ''
        })
        return { process: `${host}:${new URL(address).port}`, text }
      }),
    )
  }

  async function own(): Promise<string> {
    const [host, traffic, users, states] = await Promise.all([
      readHost(),
      figures.traffic(),
      figures.users(),
      freshStates(db, config, now()),
    ])
    const registry = new Registry()
    const add = (name: string, help: string, value: number | null) => {
      if (value !== null) new Gauge({ name, help, registers: [registry] }).set(value)
    }
    add('monitoring_service_up', '1 while the monitoring service answers', 1)
    add('monitoring_service_services_monitored', 'Services that are checked', states.length)
    add('monitoring_system_cpu_usage', 'CPU in use on this host, percent', host.cpu_percent)
    add('monitoring_system_memory_usage', 'Memory in use, percent', host.memory_percent)
    add('monitoring_system_disk_usage', 'Disk space in use, percent', host.disk_percent)
    add('monitoring_mail_active_domains', 'Domains', users.active_domains)
    add('monitoring_mail_total_users', 'Mailboxes', users.total_users)
    add('monitoring_mail_emails_today', 'Delivery attempts today (UTC)', traffic.messages_today)
    for (const { name, status } of states) {
      // This service is up, because it renders this page.
      if (status === 'up' || name === 'monitoring') continue
      add(`${name}_service_up`, '0 while the service does not answer', 0)
    }
    return registry.metrics()
  }

  // The processes are read once a second at most, however often this page is read.
  const page = sharedValue(
    async () => mergeMetrics([...(await pages()), { process: 'monitoring', text: await own() }]),
    KEPT,
  )

  return async (app) => {
    app.get('/metrics/prometheus', {
      config: { auth: none() },
      schema: {
        operationId: 'all_metrics',
        summary: 'Metrics of every process of the installation, for a scraper',
        produces: ['text/plain'],
      },
      handler: async (_request, reply) =>
        reply.type('text/plain; version=0.0.4; charset=utf-8').send(await page(PAGE_MS)),
    })
  }
}
