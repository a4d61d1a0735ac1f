import { globalWebhookUrl } from '../config.ts'
import { startDelivery } from '../features/webhooks/delivery/engine.ts'
import { queueState } from '../features/webhooks/delivery/queue.repository.ts'
import { deleteOldDeliveries } from '../features/webhooks/webhooks.jobs.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'

/** Delivers events. Without anybody to deliver to, there is nothing for it to do. */
export const webhooks: Daemon = {
  name: 'webhooks',
  port: 8081,
  async start(core) {
    const jobs = runJobs(core, [deleteOldDeliveries(core.config)])
    const listened = globalWebhookUrl(core.config) !== undefined || core.config.WEBHOOK_FANOUT
    const engine = listened ? await startDelivery(core) : undefined
    return {
      features: [],
      async metrics() {
        const { depth, oldest_seconds, dead } = await queueState(core.db)
        const attempts = Object.entries(engine?.counts ?? {}).map(
          ([outcome, count]) => `webhooks_attempts_total{outcome="${outcome}"} ${count}`,
        )
        return [
          '# TYPE webhooks_queue_depth gauge',
          `webhooks_queue_depth ${depth}`,
          '# TYPE webhooks_queue_oldest_seconds gauge',
          `webhooks_queue_oldest_seconds ${oldest_seconds}`,
          '# TYPE webhooks_dead_letters gauge',
          `webhooks_dead_letters ${dead}`,
          '# TYPE webhooks_attempts_total counter',
          ...attempts,
        ].join('\n')
      },
      async stop() {
        await engine?.stop()
        await jobs.stop()
      },
    }
  },
}
