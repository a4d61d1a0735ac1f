import type { Config } from '../../../config/index.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { poster } from '../../../outbound/post.ts'
import { envelopeOf, signedRequest } from './envelope.ts'
import type { Outcome } from './outcomes.ts'
import type { Job } from './queue.repository.ts'
import { nextAttempt, retryAfterSeconds } from './retry-schedule.ts'

/** The receiver of a job, and the organization that may read about it. */
export interface Target {
  organizationId: string | null
  url: string
  /** The first one signs everything; the others only what can hold several signatures. */
  secrets: readonly string[]
}

interface Needs {
  config: Config
  now(): Date
}

/** HTTP 406: the receiver does not want this event, now or later. */
const NOT_ACCEPTABLE = 406

/** Signs and sends a job once. */
export async function makeAttempt(
  { config, now }: Needs,
  http: ReturnType<typeof poster>,
  job: Job,
  target: Target,
): Promise<Outcome> {
  const envelope = envelopeOf(job.event)
  const { body, headers } = signedRequest(envelope, target.secrets, now())
  const answer = await http.post(target.url, headers, body)
  const at = now()
  const schedule = { waits: config.WEBHOOK_RETRY_SCHEDULE, maxRetries: config.WEBHOOK_MAX_RETRIES }
  const outcome = {
    id: ulid(),
    job,
    organizationId: target.organizationId,
    url: target.url,
    httpStatus: answer.status,
    error: answer.error,
    at,
  }
  if (answer.status >= 200 && answer.status < 300) return { ...outcome, status: 'delivered' }
  if (answer.status === NOT_ACCEPTABLE) return { ...outcome, status: 'abandoned' }
  const askedSeconds = retryAfterSeconds(answer.retryAfter, at)
  const retryAt = nextAttempt(job.attempts + 1, schedule, at, askedSeconds)
  return retryAt
    ? { ...outcome, status: 'retrying', retryAt }
    : { ...outcome, status: 'failed', deadLetter: envelope }
}
