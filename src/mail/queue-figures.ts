import type { Core } from '../core.ts'

type Needs = Pick<Core, 'mailQueue' | 'now'>

export interface QueueFigures {
  depth: number
  deferred: number
  oldest_age_seconds: number | null
}

/** Without a configured mail server the queue is empty; a mail server that does not answer throws. */
export async function queueFigures({ mailQueue, now }: Needs): Promise<QueueFigures> {
  if (!mailQueue.isConfigured) return { depth: 0, deferred: 0, oldest_age_seconds: null }
  let depth = 0
  let deferred = 0
  let oldest = Number.POSITIVE_INFINITY
  await mailQueue.walk(({ status, arrived }) => {
    depth++
    if (status === 'deferred') deferred++
    oldest = Math.min(oldest, arrived.getTime())
  })
  const age = depth === 0 ? null : Math.max(0, Math.floor((now().getTime() - oldest) / 1000))
  return { depth, deferred, oldest_age_seconds: age }
}
