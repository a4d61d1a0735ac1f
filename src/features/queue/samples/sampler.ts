import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS, MINUTE_MS } from '../../../lib/time.ts'
import { QueueAway, type QueueStatus } from '../../../mail/mail-queue.ts'
import * as samples from './samples.repository.ts'

const KEPT_MS = 30 * DAY_MS
const QUEUES: readonly QueueStatus[] = ['active', 'deferred', 'hold']

type Needs = Pick<Core, 'db' | 'log' | 'mailQueue' | 'now'>

/** Counts the queue and stores a row for each of its parts; an unreadable queue leaves a gap. */
export async function sampleQueue({ db, log, mailQueue, now }: Needs, host: string) {
  const time = now()
  const parts = new Map(
    QUEUES.map((name) => [name, { count: 0, bytes: 0, oldest: time.getTime() }]),
  )
  try {
    const problem = await mailQueue.walk(({ status, size, arrived }) => {
      const part = parts.get(status) as { count: number; bytes: number; oldest: number }
      part.count++
      part.bytes += size
      part.oldest = Math.min(part.oldest, arrived.getTime())
    })
    if (problem !== undefined) throw new QueueAway(problem)
  } catch (error) {
    if (!(error instanceof QueueAway)) throw error
    log.warn({ err: error }, 'the mail queue was not counted')
    return
  }
  const minute = new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS)
  await samples.insert(
    db,
    host,
    minute,
    [...parts].map(([queue_name, { count, bytes, oldest }]) => ({
      queue_name,
      message_count: count,
      size_bytes: bytes,
      oldest_age_seconds: count === 0 ? null : Math.floor((time.getTime() - oldest) / 1000),
    })),
  )
}

export const deleteOldQueueSamples: Job = {
  name: 'queue.delete-old-samples',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => samples.deleteBefore(db, new Date(now().getTime() - KEPT_MS)),
}
