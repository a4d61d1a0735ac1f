import { hostname } from 'node:os'
import { Registry } from 'prom-client'
import { queueManagerRoutes } from '../features/queue/internal.routes.ts'
import { queueService } from '../features/queue/queue.service.ts'
import { sampleQueue } from '../features/queue/samples/sampler.ts'
import * as samples from '../features/queue/samples/samples.repository.ts'
import { takeJob } from '../jobs/jobs.ts'
import { scrapedGauge } from '../lib/metrics.ts'
import { periodically } from '../lib/periodically.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { hasPostfix, postfixQueue } from '../mail/postfix-queue.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

const LOOK_MS = 5000
// Shorter than a minute, so that a late look still gives every minute a sample.
const SAMPLE_SECONDS = 55
/** Older samples say nothing about the queue of now. */
const FRESH_MS = 5 * MINUTE_MS

/**
 * Reads and changes the queue of the Postfix on this machine, for services that have no rights on it,
 * and counts it each minute. It is the only service that needs root, or the helper.
 */
export const queueManager: Daemon = {
  async start(core) {
    const { db, log, mailServers, now, queueCommands } = core
    const host = hostname()
    const mailQueue = postfixQueue(queueCommands, () => hasPostfix(mailServers))
    const queue = queueService({ ...core, mailQueue })
    const newest = () => samples.latest(db, host, new Date(now().getTime() - FRESH_MS))
    const job = { name: `queue.sample ${host}`, everySeconds: SAMPLE_SECONDS }
    const run = async () => sampleQueue({ ...core, mailQueue }, host)
    const sampling = periodically(
      LOOK_MS,
      async () => {
        if (isOver || !mailQueue.isConfigured) return
        if (await takeJob(db, { ...job, run })) await run()
      },
      (error) => log.error({ err: error }, 'counting the mail queue failed'),
    )
    const work = await runFeatureWork(core, 'queue_manager')
    let isOver = false
    return {
      features: [
        {
          prefix: '',
          routes: queueManagerRoutes({
            log,
            queue,
            start: queueCommands,
            statistics: async () => ({ host, queues: await newest() }),
          }),
        },
      ],
      metrics: async () => gauges(await newest()),
      async stop() {
        isOver = true
        await sampling.stop()
        await work.stop()
      },
    }
  },
}

function gauges(rows: readonly samples.QueueSample[]): Promise<string> {
  const registry = new Registry()
  const gauge = (name: string, help: string, read: (row: samples.QueueSample) => number) =>
    scrapedGauge({ registry, name: `queue_manager_${name}`, help, label: 'queue' }, () =>
      Object.fromEntries(rows.map((row) => [row.queue_name, read(row)])),
    )
  gauge('messages', 'Messages in the mail queue', (row) => row.message_count)
  gauge('bytes', 'Size of the messages in the mail queue', (row) => row.size_bytes)
  gauge(
    'oldest_age_seconds',
    'Age of the oldest message; 0 for an empty queue',
    (row) => row.oldest_age_seconds ?? 0,
  )
  return registry.metrics()
}
