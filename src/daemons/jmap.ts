import { Registry } from 'prom-client'
import { forgetJmap } from '../features/jmap/jmap.jobs.ts'
import { jmapRoutes } from '../features/jmap/jmap.routes.ts'
import { type JmapService, jmapService } from '../features/jmap/jmap.service.ts'
import { viewRoutes } from '../features/jmap/view/view.routes.ts'
import { scriptStore } from '../features/mailbox/script-store/script-store.ts'
import { vacationService } from '../features/mailbox/vacation/vacation.service.ts'
import { runJobs } from '../jobs/jobs.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Mail for programs that speak JMAP. */
export const jmap: Daemon = {
  async start(core) {
    const service = await jmapService(core, {
      vacation: vacationService(scriptStore(core)),
    })
    const jobs = runJobs(core, [forgetJmap])
    const registry = jmapRegistry(service)
    return {
      features: [
        { prefix: '', routes: jmapRoutes(service) },
        { prefix: '', routes: viewRoutes(core, service) },
      ],
      metrics: () => registry.metrics(),
      async stop() {
        await jobs.stop()
        await service.stop()
      },
    }
  },
}

function jmapRegistry({ figures }: JmapService): Registry {
  const registry = new Registry()
  scrapedCounter(
    {
      registry,
      name: 'jmap_comparisons_total',
      help: 'Comparisons of an index with the mail server',
    },
    () => figures().comparisons,
  )
  scrapedGauge(
    { registry, name: 'jmap_open_accounts', help: 'Accounts with a connection to the mail server' },
    () => figures().accounts,
  )
  scrapedGauge(
    { registry, name: 'jmap_event_sources', help: 'Programs that wait for changes' },
    () => figures().streams,
  )
  scrapedGauge(
    {
      registry,
      name: 'jmap_watched_accounts',
      help: 'Accounts whose changes are waited for, by way',
      label: 'by',
    },
    () => {
      const { watched, connections } = figures()
      return { connection: connections, look: watched - connections }
    },
  )
  return registry
}
