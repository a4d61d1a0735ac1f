import type { Core } from '../../core.ts'
import type { Channel } from './channel/channel.ts'
import type { DeliveryEngine } from './delivery/engine.ts'
import { queueState } from './delivery/queue.repository.ts'

interface Parts {
  posted: { events: number }
  engine: DeliveryEngine | undefined
  channel: Channel | undefined
}

/** What the daemon tells a scraper beyond its requests. */
export async function webhookMetrics({ db }: Pick<Core, 'db'>, parts: Parts): Promise<string> {
  const { posted, engine, channel } = parts
  const { depth, oldest_seconds, dead } = await queueState(db)
  return [
    ...series('webhooks_queue_depth', 'gauge', { '': depth }),
    ...series('webhooks_queue_oldest_seconds', 'gauge', { '': oldest_seconds }),
    ...series('webhooks_dead_letters', 'gauge', { '': dead }),
    ...series('webhooks_attempts_total', 'counter', labelled('outcome', engine?.counts)),
    ...(engine?.latency.lines() ?? []),
    ...series('webhooks_ingested_total', 'counter', {
      '{via="http"}': posted.events,
      ...(channel && { '{via="channel"}': channel.counts.stored }),
    }),
    ...(channel ? channelLines(channel) : []),
  ].join('\n')
}

const channelLines = ({ subscribed, counts, malformed }: Channel): string[] => [
  ...series('webhooks_channel_subscribed', 'gauge', { '': subscribed ? 1 : 0 }),
  ...series('webhooks_channel_messages_total', 'counter', labelled('outcome', counts)),
  ...series('webhooks_malformed_total', 'counter', labelled('reason', malformed)),
]

const labelled = (label: string, counts: Record<string, number> = {}) =>
  Object.fromEntries(Object.entries(counts).map(([word, n]) => [`{${label}="${word}"}`, n]))

const series = (name: string, type: string, values: Record<string, number>): string[] => [
  `# TYPE ${name} ${type}`,
  ...Object.entries(values).map(([labels, value]) => `${name}${labels} ${value}`),
]
