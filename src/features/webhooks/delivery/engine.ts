import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from 'prom-client'
import { globalWebhookUrl } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import { makeAttempt } from './attempt.ts'
import { LaneLease } from './lanes.ts'
import { type Outcome, OutcomeWriter } from './outcomes.ts'
import { type Job, load, withFreshPlans } from './queue.repository.ts'
import { endpointSource, globalUrlSource, type Source } from './sources.ts'
import { WorkingSet } from './working-set.ts'

const POLL_MS = 1000
const MAX_PAUSE_MS = 250
const LATENCY_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600, 30_000]

type Needs = Pick<Core, 'config' | 'db' | 'listen' | 'log' | 'now' | 'outbound' | 'vault'>

export type DeliveryEngine = Awaited<ReturnType<typeof startDelivery>>

/**
 * Delivers the queue: to the global URL, and to endpoints where fan-out is on. Each has its own loop
 * with its own workers, so neither waits for the other.
 */
export async function startDelivery(core: Needs) {
  const { config, db, listen } = core
  const url = globalWebhookUrl(config)
  const statistics = deliveryStatistics()
  const outcomes = new OutcomeWriter(core)
  const lease = new LaneLease({
    db,
    timeoutSeconds: config.WEBHOOK_TIMEOUT,
    busyLanes: () => loops.flatMap((loop) => loop.busyLanes()),
    onChange(lanes) {
      for (const loop of loops) loop.keepOnly(lanes)
    },
  })
  const sources = [
    ...(url === undefined ? [] : [globalUrlSource(core, url)]),
    ...(config.WEBHOOK_FANOUT ? [endpointSource(core)] : []),
  ]
  const needs = { ...core, lease, outcomes, statistics }
  const loops = sources.map((source) => new DeliveryLoop(needs, source))
  const wake = () => {
    for (const loop of loops) loop.wake()
  }
  const feed = await listen('mailplane_webhooks', { message: wake, subscribed: wake })
  const timer = setInterval(wake, POLL_MS)

  return {
    ...statistics,
    /** Waits for the attempts in progress and releases the lanes for other daemons. */
    async stop() {
      clearInterval(timer)
      await Promise.all(loops.map((loop) => loop.stop()))
      await outcomes.close()
      await feed.close()
      await lease.release()
    },
  }
}

function deliveryStatistics() {
  const counts = { delivered: 0, retrying: 0, failed: 0, abandoned: 0 }
  const latency = new Histogram({
    name: 'webhooks_delivery_latency_seconds',
    help: 'Time from an event to its acceptance by the receiver, retries included',
    buckets: LATENCY_SECONDS,
    registers: [],
  })
  return {
    counts,
    latency,
    add({ status, job, at }: Outcome) {
      counts[status]++
      if (status !== 'delivered') return
      latency.observe(Math.max(0, at.getTime() - Date.parse(job.event.created_at)) / 1000)
    },
  }
}

interface LoopNeeds extends Needs {
  lease: LaneLease
  outcomes: OutcomeWriter
  statistics: ReturnType<typeof deliveryStatistics>
}

/** Reads due entries of a source, sends them and stores the outcomes, until it is stopped. */
class DeliveryLoop {
  readonly #needs: LoopNeeds
  readonly #source: Source
  readonly #jobs: WorkingSet
  readonly #deliveries = new Set<Promise<void>>()
  readonly #slowMs: number
  #reading: Promise<void> | undefined
  #isReading = false
  #readAgain = false
  #isStopping = false

  constructor(needs: LoopNeeds, source: Source) {
    this.#needs = needs
    this.#source = source
    this.#jobs = new WorkingSet(source.limits)
    this.#slowMs = (needs.config.WEBHOOK_TIMEOUT * 1000) / 3
  }

  busyLanes(): number[] {
    return this.#jobs.busyLanes()
  }

  keepOnly(lanes: ReadonlySet<number>): void {
    this.#jobs.forget(({ lane }) => !lanes.has(lane))
  }

  /** Reads the queue now, or once more when it is being read already. */
  wake(): void {
    this.#readAgain = true
    if (!this.#isReading) this.#reading = this.#readWhileNeeded()
  }

  /** Waits for the attempts in progress. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#reading
    await Promise.all(this.#deliveries)
    this.#source.http.close()
  }

  async #readWhileNeeded(): Promise<void> {
    this.#isReading = true
    while (this.#readAgain && !this.#isStopping) {
      this.#readAgain = false
      const startedAt = Date.now()
      try {
        await this.#read()
      } catch (error) {
        this.#needs.log.warn({ err: error }, 'webhook queue not readable')
      }
      // The database has half of the time for other work, however long the queue takes to read.
      await sleep(Math.min(Date.now() - startedAt, MAX_PAUSE_MS))
    }
    this.#isReading = false
  }

  async #read(): Promise<void> {
    const { db, lease, now } = this.#needs
    const jobs = this.#jobs
    await lease.renewWhenDue()
    if (lease.lanes.length === 0 || this.#isStopping) return
    const { loaded, due } = await withFreshPlans(db, async (tx) => {
      const due = await this.#source.findDue(tx, lease.lanes, jobs)
      const ids = due.ids.filter((id) => !jobs.has(id))
      return { due, loaded: ids.length === 0 ? [] : await load(tx, ids, now()) }
    })
    // Another daemon may have leased the lane meanwhile.
    const owned = loaded.filter(({ lane }) => lease.owns(lane))
    jobs.add(owned, due.mayHaveMore)
    this.#startAttempts()
    if (due.isPartial) this.wake()
  }

  #startAttempts(): void {
    while (!this.#isStopping && this.#needs.lease.mayStart()) {
      const job = this.#jobs.next()
      if (!job) return
      const delivery = this.#deliver(job).finally(() => this.#deliveries.delete(delivery))
      this.#deliveries.add(delivery)
    }
  }

  async #deliver(job: Job): Promise<void> {
    const { log, outcomes, statistics } = this.#needs
    const timer = setTimeout(() => this.#jobs.markSlow(job), this.#slowMs)
    try {
      const target = this.#source.targetOf(job)
      if (!target) return
      const outcome = await makeAttempt(this.#needs, this.#source.http, job, target)
      statistics.add(outcome)
      const stored = outcomes.write(outcome)
      this.#jobs.answered(job)
      this.#startAttempts()
      await stored
    } catch (error) {
      log.error({ err: error, queue_id: job.id }, 'webhook attempt broke off')
    } finally {
      clearTimeout(timer)
      if (this.#jobs.finished(job)) this.wake()
      this.#startAttempts()
    }
  }
}
