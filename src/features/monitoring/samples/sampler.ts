import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { within } from '../../../lib/timeout.ts'
import { queueFigures } from '../../../mail/queue-figures.ts'
import { forgetOld, takeCounts } from '../heartbeats.repository.ts'
import { freshStates } from '../states.repository.ts'
import { deliveryLatency } from './latency.repository.ts'
import { minuteOf } from './minute.ts'
import { deleteSamplesBefore, insertSamples, type Sample } from './samples.repository.ts'

const PATIENCE_MS = 10_000
const KEPT_MS = 8 * DAY_MS

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'mailQueue' | 'mailServers' | 'now'>

/** Stores one value per series and minute; an unreadable value leaves a gap. */
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
    if (!core.mailQueue.isConfigured) return []
    const { depth, deferred } = await within(PATIENCE_MS, queueFigures(core))
    return [
      { metric: 'mail_queue_depth', label: 'postfix', value: depth },
      { metric: 'mail_queue_deferred', label: 'postfix', value: deferred },
    ]
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
      log.warn({ err: error }, 'taking a sample failed')
      return []
    }
  }
}

export const deleteOldSamples: Job = {
  name: 'monitoring.delete-old-samples',
  everySeconds: HOUR_SECONDS,
  async run({ db, now }) {
    await deleteSamplesBefore(db, new Date(now().getTime() - KEPT_MS))
    await forgetOld(db)
  },
}
