import type { Block } from './block.ts'

interface Queue {
  depth: number
  deferred: number
  oldest_age_seconds: number | null
}

/**
 * The queue of the mail server. An installation without one has nothing in it; one whose mail server
 * does not answer has a queue that nobody knows.
 */
export const queue: Block<Queue> = async ({ config, mailQueue, now }) => {
  if (config.POSTFIX_CONFIG_DIR === undefined) {
    return { depth: 0, deferred: 0, oldest_age_seconds: null }
  }
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
