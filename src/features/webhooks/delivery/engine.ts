import { globalWebhookUrl } from '../../../config.ts'
import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { envelopeOf, signedRequest } from './envelope.ts'
import { leaseLanes, releaseLanes } from './lanes.ts'
import { deliveryLatency } from './latency.ts'
import { outcomeWriter } from './outcome-writer.ts'
import { poster } from './post.ts'
import * as queue from './queue.repository.ts'
import { nextAttempt, retryAfterSeconds } from './retry-schedule.ts'
import { workingSet } from './working-set.ts'

const RENEW_MS = 2000
const POLL_MS = 1000
const FETCH = 500

type Needs = Pick<Core, 'config' | 'db' | 'listen' | 'log' | 'now'>

export type DeliveryEngine = Awaited<ReturnType<typeof startDelivery>>

/** Sends what waits in the queue to the global address, until told to stop. */
export async function startDelivery({ config, db, listen, log, now }: Needs) {
  const url = globalWebhookUrl(config)
  const owner = ulid()
  const leaseSeconds = config.WEBHOOK_TIMEOUT + 5
  const schedule = { waits: config.WEBHOOK_RETRY_SCHEDULE, maxRetries: config.WEBHOOK_MAX_RETRIES }
  const http = poster(config.WEBHOOK_TIMEOUT, config.WEBHOOK_WORKERS)
  const writer = outcomeWriter(db, log)
  const counts = { delivered: 0, retrying: 0, failed: 0, abandoned: 0 }
  const latency = deliveryLatency()
  let lanes: number[] = []
  let leasedUntil = 0
  let stopping = false

  const waiting = workingSet(config.WEBHOOK_WORKERS, deliver)

  /** An attempt may outlast neither the lease nor its renewal: another daemon would repeat it. */
  const mayStart = () => !stopping && Date.now() + config.WEBHOOK_TIMEOUT * 1000 < leasedUntil

  async function deliver(job: queue.Job): Promise<void> {
    if (url === undefined || !mayStart()) return
    const envelope = envelopeOf(job.event)
    const { body, headers } = signedRequest(envelope, config.WEBHOOK_SECRET, now())
    const answer = await http.post(url, headers, body)
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
    await writer.write({
      job,
      delivery: { id: ulid(), url, status, httpStatus: answer.status, error: answer.error, at },
      ...(retryAt && { retryAt }),
      ...(status === 'failed' && { deadLetter: envelope }),
    })
  }

  async function renew(): Promise<void> {
    const asked = Date.now()
    const leased = await leaseLanes(db, owner, leaseSeconds)
    leasedUntil = asked + leaseSeconds * 1000
    lanes = leased
    waiting.keepOnly(new Set(lanes))
  }

  /** Only as much as fits: what does not, waits in the database. */
  async function fetch(): Promise<void> {
    const room = config.WEBHOOK_QUEUE_SIZE - waiting.size
    if (stopping || lanes.length === 0 || room <= 0 || waiting.isBusy) return
    const first = await queue.firstIds(db, lanes, waiting.size + Math.min(room, FETCH))
    const retries = await queue.dueRetryIds(db, lanes, now(), waiting.size + Math.min(room, FETCH))
    const ids = [...first, ...retries].map(({ id }) => id).filter((id) => !waiting.has(id))
    if (ids.length > 0) waiting.add(await queue.load(db, ids))
  }

  const rounds = singleFile(async () => {
    try {
      if (Date.now() > leasedUntil - leaseSeconds * 1000 + RENEW_MS) await renew()
      await fetch()
    } catch (error) {
      log.warn({ err: error }, 'the webhook queue could not be read')
    }
  })
  const feed = await listen('mailplane_webhooks', { message: rounds, subscribed: rounds })
  waiting.onRoom(rounds)
  const timer = setInterval(rounds, POLL_MS)

  return {
    counts,
    latency,
    /** Waits for attempts under way and gives the lanes back; what is left others will send. */
    async stop() {
      stopping = true
      clearInterval(timer)
      await rounds.idle()
      await waiting.idle()
      await writer.close()
      await feed.close()
      await releaseLanes(db, owner)
      http.close()
    },
  }
}

/** Calls that come while one is running are answered by one more run. */
function singleFile(work: () => Promise<void>) {
  let running: Promise<void> | undefined
  let again = false
  const run = () => {
    if (running) {
      again = true
      return
    }
    running = work().finally(() => {
      running = undefined
      if (again) {
        again = false
        run()
      }
    })
  }
  return Object.assign(run, { idle: async () => running })
}
