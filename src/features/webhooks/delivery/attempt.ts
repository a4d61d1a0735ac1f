import type { Config } from '../../../config.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { poster } from '../../../outbound/post.ts'
import { envelopeOf, signedRequest } from './envelope.ts'
import { deliveryLatency } from './latency.ts'
import type { outcomeWriter } from './outcome-writer.ts'
import type { Job } from './queue.repository.ts'
import { nextAttempt, retryAfterSeconds } from './retry-schedule.ts'

/** Where an event goes and who may read about it. */
export interface Target {
  /** null: the global address. */
  endpointId: string | null
  organizationId: string | null
  url: string
  /** The one that signs first. */
  secrets: readonly string[]
}

interface Needs {
  config: Config
  now(): Date
  writer: Pick<ReturnType<typeof outcomeWriter>, 'write'>
}

export type Attempt = ReturnType<typeof attempts>['make']

/** One attempt from the signature to the record of what came of it. */
export function attempts({ config, now, writer }: Needs) {
  const schedule = { waits: config.WEBHOOK_RETRY_SCHEDULE, maxRetries: config.WEBHOOK_MAX_RETRIES }
  const counts = { delivered: 0, retrying: 0, failed: 0, abandoned: 0 }
  const latency = deliveryLatency()

  return {
    counts,
    latency,
    async make(
      job: Job,
      target: Target,
      http: ReturnType<typeof poster>,
      answered: () => void = () => {},
    ): Promise<void> {
      const envelope = envelopeOf(job.event)
      const { body, headers } = signedRequest(envelope, target.secrets, now())
      const answer = await http.post(target.url, headers, body)
      const at = now()
      const delivered = answer.status >= 200 && answer.status < 300
      const asked = retryAfterSeconds(answer.retryAfter, at)
      const retryAt =
        delivered || answer.status === 406
          ? undefined
          : nextAttempt(job.attempts + 1, schedule, at, asked)
      const status = delivered
        ? 'delivered'
        : answer.status === 406
          ? 'abandoned'
          : retryAt
            ? 'retrying'
            : 'failed'
      counts[status]++
      if (delivered) latency.accepted(job.event, at)
      const { endpointId, organizationId, url } = target
      const { status: httpStatus, error } = answer
      const stored = writer.write({
        job,
        delivery: { id: ulid(), endpointId, organizationId, url, status, httpStatus, error, at },
        ...(retryAt && { retryAt }),
        ...(status === 'failed' && { deadLetter: envelope }),
      })
      answered()
      await stored
    },
  }
}
