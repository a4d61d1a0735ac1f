import { Gauge, Registry } from 'prom-client'
import type { Core } from '../../core.ts'
import { scrapedCounter, scrapedGauge } from '../../lib/metrics.ts'
import type { Channel } from './channel/channel.ts'
import type { DeliveryEngine } from './delivery/engine.ts'
import { queueState } from './delivery/queue.repository.ts'

interface Parts {
  posted: { events: number }
  engine: DeliveryEngine | undefined
  channel: Channel | undefined
}

/** Returns the function that renders the metrics of the webhooks daemon at each scrape. */
export function webhookMetrics({ db }: Pick<Core, 'db'>, { posted, engine, channel }: Parts) {
  const registry = new Registry()
  const registers = [registry]
  const depth = new Gauge({
    name: 'webhooks_queue_depth',
    help: 'Deliveries that wait for an attempt',
    registers,
  })
  const oldest = new Gauge({
    name: 'webhooks_queue_oldest_seconds',
    help: 'Age of the oldest delivery in the queue',
    registers,
  })
  const deadLetters = new Gauge({
    name: 'webhooks_dead_letters',
    help: 'Deliveries that were given up',
    registers,
  })
  scrapedCounter(
    {
      registry,
      name: 'webhooks_attempts_total',
      help: 'Delivery attempts of this process',
      label: 'outcome',
    },
    () => ({ ...engine?.counts }),
  )
  if (engine) registry.registerMetric(engine.latency)
  scrapedCounter(
    {
      registry,
      name: 'webhooks_ingested_total',
      help: 'Events that this process took in',
      label: 'via',
    },
    () => ({ http: posted.events, ...(channel && { channel: channel.counts.stored }) }),
  )
  if (channel) describeChannel(registry, channel)

  return async (): Promise<string> => {
    const state = await queueState(db)
    depth.set(state.depth)
    oldest.set(state.oldest_seconds)
    deadLetters.set(state.dead)
    return registry.metrics()
  }
}

function describeChannel(registry: Registry, channel: Channel): void {
  scrapedGauge(
    {
      registry,
      name: 'webhooks_channel_subscribed',
      help: '1 while the Redis channel is subscribed',
    },
    () => (channel.subscribed ? 1 : 0),
  )
  scrapedCounter(
    {
      registry,
      name: 'webhooks_channel_messages_total',
      help: 'Messages of the Redis channel',
      label: 'outcome',
    },
    () => ({ ...channel.counts }),
  )
  scrapedCounter(
    {
      registry,
      name: 'webhooks_malformed_total',
      help: 'Messages of the Redis channel that could not be read',
      label: 'reason',
    },
    () => ({ ...channel.malformed }),
  )
}
