import { globalWebhookUrl } from '../config/index.ts'
import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { declareEvents } from '../features/index.ts'
import { startChannel } from '../features/webhooks/channel/channel.ts'
import { startDelivery } from '../features/webhooks/delivery/engine.ts'
import { ingestion } from '../features/webhooks/ingestion/index.ts'
import { webhookMetrics } from '../features/webhooks/webhooks.metrics.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

/** Stores the events of other services, and delivers all events if there is a receiver. */
export const webhooks: Daemon = {
  async start(core) {
    await declareEvents()
    const posted = { events: 0 }
    const jobs = await runFeatureWork(core, 'webhooks')
    const delivers = globalWebhookUrl(core.config) !== undefined || core.config.WEBHOOK_FANOUT
    const engine = delivers ? await startDelivery(core) : undefined
    const { redis } = core
    const channel = redis && startChannel({ ...core, redis })
    return {
      features: webhooksFeatures(core, (events) => {
        posted.events += events
      }),
      metrics: webhookMetrics(core, { posted, engine, channel }),
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
