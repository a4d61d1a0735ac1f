import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { withinTime } from '../../../lib/kept-value.ts'
import {
  deleteSamplesBefore,
  insertSamples,
  type Sample,
} from '../../platform/metrics/samples.repository.ts'
import { queue } from '../../platform/overview/blocks/queue.ts'
import { forgetOld, takeCounts } from '../heartbeats.repository.ts'
import { freshStates } from '../states.repository.ts'
import { deliveryLatency } from './latency.repository.ts'
import { minuteOf } from './minute.ts'

const PATIENCE_MS = 10_000
const KEPT_MS = 8 * 24 * 3600_000

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'mailQueue' | 'now'>

/** One value of each series for this minute; what cannot be read is a gap. */
export async function takeSamples(core: Needs): Promise<void> {
  const { config, db, log, now } = core
  const time = now()
  const parts = await Promise.all([
    orNone(serviceSamples()),
    orNone(rateSamples()),
    orNone(queueSample()),
    orNone(latencySample()),
  ])
  await insertSamples(db, minuteOf(time), parts.flat())

  async function serviceSamples(): Promise<Sample[]> {
    const states = await freshStates(db, config, time)
    return states.map(({ name, status }) => ({
      metric: 'service_up',
      label: name,
      value: status === 'up' ? 1 : 0,
    }))
  }

  async function rateSamples(): Promise<Sample[]> {
    const rates = new Map<string, { requests: number; errors: number }>()
    for (const { name, requests, errors, seconds } of await takeCounts(db)) {
      const sum = rates.get(name) ?? { requests: 0, errors: 0 }
      sum.requests += Math.max(0, requests) / Math.max(1, seconds)
      sum.errors += Math.max(0, errors) / Math.max(1, seconds)
      rates.set(name, sum)
    }
    return [...rates].flatMap(([label, { requests, errors }]) => [
      { metric: 'http_request_rate', label, value: requests },
      { metric: 'http_error_rate', label, value: errors },
    ])
  }

  async function queueSample(): Promise<Sample[]> {
    if (config.POSTFIX_CONFIG_DIR === undefined) return []
    const { depth } = await withinTime(queue(core, null), PATIENCE_MS)
    return [{ metric: 'mail_queue_depth', label: 'postfix', value: depth }]
  }

  async function latencySample(): Promise<Sample[]> {
    const value = await deliveryLatency(db, time)
    if (value === null) return []
    return [{ metric: 'mail_delivery_latency_p95_seconds', label: 'postfix', value }]
  }

  async function orNone(samples: Promise<Sample[]>): Promise<Sample[]> {
    try {
      return await samples
    } catch (error) {
      log.warn({ err: error }, 'a sample could not be taken')
      return []
    }
  }
}

export const deleteOldSamples: Job = {
  name: 'monitoring.delete-old-samples',
  everySeconds: 3600,
  async run({ db, now }) {
    await deleteSamplesBefore(db, new Date(now().getTime() - KEPT_MS))
    await forgetOld(db)
  },
}
