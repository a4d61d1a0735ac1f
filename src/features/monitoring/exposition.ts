import type { FastifyPluginAsync } from 'fastify'
import { none } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import { keptValue } from '../../lib/kept-value.ts'
import { reachable } from './heartbeat.ts'
import { liveAddresses } from './heartbeats.repository.ts'
import { hostReader } from './host/readings.ts'
import { mailFigures } from './mail-figures.ts'
import { httpAnswer } from './probes/http-answer.ts'
import { freshStates } from './states.repository.ts'

const KEPT = { freshMs: 1000, staleMs: 10_000 }
const PATIENCE_MS = 3000
const PAGE_MS = 10_000

/** What all processes of the installation tell a scraper, on one page. */
export function expositionRoutes(core: Core): FastifyPluginAsync {
  const { config, db, log, now } = core
  const readHost = hostReader(config.DATA_DIR)
  const figures = mailFigures(core)

  async function pages(): Promise<string[]> {
    const addresses = await liveAddresses(db)
    return Promise.all(
      addresses.map(({ address, host }) =>
        httpAnswer(`${reachable(address, host)}/metrics`, { patienceMs: PATIENCE_MS }).catch(
          (error) => {
            log.warn({ address, reason: error.message }, 'a process does not tell its metrics')
            return ''
          },
        ),
      ),
    )
  }

  async function own(): Promise<string> {
    const [host, traffic, users, states] = await Promise.all([
      readHost(),
      figures.traffic(),
      figures.users(),
      freshStates(db, config, now()),
    ])
    const figure = (name: string, value: number | null) =>
      value === null ? [] : [`${name} ${value}`]
    return [
      'monitoring_service_up 1',
      `monitoring_service_services_monitored ${states.length}`,
      ...figure('monitoring_system_cpu_usage', host.cpu_percent),
      `monitoring_system_memory_usage ${host.memory_percent}`,
      `monitoring_system_disk_usage ${host.disk_percent}`,
      ...figure('monitoring_mail_active_domains', users.active_domains),
      ...figure('monitoring_mail_total_users', users.total_users),
      ...figure('monitoring_mail_emails_today', traffic.messages_today),
      ...states.filter(({ status }) => status !== 'up').map(({ name }) => `${name}_service_up 0`),
      '',
    ].join('\n')
  }

  // Whoever asks, and however often: the processes are asked once a second at most.
  const page = keptValue(async () => [...(await pages()), await own()].join(''), KEPT)

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
