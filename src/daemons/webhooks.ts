import { globalWebhookUrl } from '../config.ts'
import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { startChannel } from '../features/webhooks/channel/channel.ts'
import { startDelivery } from '../features/webhooks/delivery/engine.ts'
import { ingestion } from '../features/webhooks/ingestion/index.ts'
import { deleteOldDeliveries } from '../features/webhooks/webhooks.jobs.ts'
import { webhookMetrics } from '../features/webhooks/webhooks.metrics.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'
import './all-events.ts'

/** Takes events in and delivers them. Without anybody to deliver to, it only takes in. */
export const webhooks: Daemon = {
  async start(core) {
    const posted = { events: 0 }
    const jobs = runJobs(core, [deleteOldDeliveries])
    const listened = globalWebhookUrl(core.config) !== undefined || core.config.WEBHOOK_FANOUT
    const engine = listened ? await startDelivery(core) : undefined
    const { redis } = core
    const channel = redis && startChannel({ ...core, redis })
    return {
      features: webhooksFeatures(core, (events) => {
        posted.events += events
      }),
      metrics: () => webhookMetrics(core, { posted, engine, channel }),
      async stop() {
        await channel?.stop()
        await engine?.stop()
        await jobs.stop()
      },
    }
  },
}

export const webhooksFeatures = (core: Core, counted: (events: number) => void): Feature[] => [
  ingestion(core, counted),
]
