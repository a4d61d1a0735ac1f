import type { Job } from './queue.repository.ts'

export interface Limits {
  /** Attempts in progress to all receivers together. */
  workers: number
  /** The part of them that may go to slow receivers. */
  slowWorkers: number
  /** Attempts in progress to one receiver. */
  perReceiver: number
}

/** The id of an endpoint, or null for the global URL. */
type ReceiverId = string | null

/** The jobs of one receiver. */
interface Receiver {
  id: ReceiverId
  /** First attempts that wait, by subject. */
  first: Map<number, Job[]>
  retries: Job[]
  retryNext: boolean
  /** Subjects with a first attempt in progress. */
  busySubjects: Set<number>
  /** Attempts in progress. */
  active: number
  /** Jobs that wait, are in progress, or are answered and not recorded yet. */
  held: number
  /** The database had as many entries as were asked for, so it may have more. */
  mayHaveMore: boolean
}

interface Attempt {
  job: Job
  isAnswered: boolean
  usesSlowWorker: boolean
  isSlow: boolean
}

/**
 * The jobs in memory, and which of them starts next. Receivers take turns. At one receiver, first
 * attempts about one subject run one after the other, and subjects take turns. Slow receivers share
 * a part of the workers, so that any number of them leaves workers for the others.
 *
 * A worker is free once the receiver has answered. As many answers as there are workers may wait to
 * be recorded: these are the attempts that a crash repeats.
 */
export class WorkingSet {
  /** Jobs to hold for one receiver. */
  capacity = 1
  readonly #limits: Limits
  readonly #ids = new Set<number>()
  // The receiver that was served last is the last one.
  readonly #receivers = new Map<ReceiverId, Receiver>()
  // Kept while a receiver has no jobs: a rarely used slow endpoint would always be treated as fast.
  readonly #slow = new Set<ReceiverId>()
  readonly #attempts = new Map<number, Attempt>()
  #sending = 0
  #sendingSlow = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  has(id: number): boolean {
    return this.#ids.has(id)
  }

  get receivers(): ReceiverId[] {
    return [...this.#receivers.keys()]
  }

  /** Returns whether a receiver holds enough jobs for now. */
  isFull(id: ReceiverId): boolean {
    const receiver = this.#receivers.get(id)
    return receiver !== undefined && !this.#isLow(receiver)
  }

  /** The lanes of attempts that are not recorded yet. */
  busyLanes(): number[] {
    return Array.from(this.#attempts.values(), ({ job }) => job.lane)
  }

  add(jobs: readonly Job[], mayHaveMore: ReadonlySet<ReceiverId>): void {
    for (const job of jobs) {
      if (this.#ids.has(job.id)) continue
      this.#ids.add(job.id)
      const receiver = this.#receiverOf(job)
      receiver.held++
      receiver.mayHaveMore = mayHaveMore.has(receiver.id)
      if (job.attempts > 0) receiver.retries.push(job)
      else {
        const jobsOfSubject = receiver.first.get(job.subject)
        if (jobsOfSubject) jobsOfSubject.push(job)
        else receiver.first.set(job.subject, [job])
      }
    }
  }

  /** Takes the job that may start now, if any. */
  next(): Job | undefined {
    const { workers, slowWorkers, perReceiver } = this.#limits
    if (this.#sending >= workers || this.#attempts.size >= 2 * workers) return undefined
    for (const receiver of this.#receivers.values()) {
      const isSlow = this.#slow.has(receiver.id)
      if (receiver.active >= perReceiver || (isSlow && this.#sendingSlow >= slowWorkers)) continue
      const job = takeJob(receiver)
      if (!job) continue
      this.#receivers.delete(receiver.id)
      this.#receivers.set(receiver.id, receiver)
      this.#start(receiver, job, isSlow)
      return job
    }
    return undefined
  }

  #start(receiver: Receiver, job: Job, usesSlowWorker: boolean): void {
    this.#attempts.set(job.id, { job, isAnswered: false, usesSlowWorker, isSlow: false })
    this.#sending++
    if (usesSlowWorker) this.#sendingSlow++
    receiver.active++
    if (job.attempts === 0) receiver.busySubjects.add(job.subject)
  }

  /** Called while the attempt is in progress, so that other slow attempts do not start meanwhile. */
  markSlow(job: Job): void {
    const attempt = this.#attempts.get(job.id)
    if (!attempt || attempt.isAnswered) return
    attempt.isSlow = true
    this.#slow.add(job.endpointId)
    if (attempt.usesSlowWorker) return
    attempt.usesSlowWorker = true
    this.#sendingSlow++
  }

  /** Frees the worker and the subject of a job. */
  answered(job: Job): void {
    const attempt = this.#attempts.get(job.id)
    if (!attempt || attempt.isAnswered) return
    attempt.isAnswered = true
    this.#sending--
    if (attempt.usesSlowWorker) this.#sendingSlow--
    if (!attempt.isSlow) this.#slow.delete(job.endpointId)
    const receiver = this.#receiverOf(job)
    receiver.active--
    if (job.attempts === 0) receiver.busySubjects.delete(job.subject)
  }

  /** Removes a job. Returns whether its receiver runs low and the database may have more for it. */
  finished(job: Job): boolean {
    this.answered(job)
    this.#attempts.delete(job.id)
    const receiver = this.#receiverOf(job)
    this.#remove(receiver, job)
    if (!receiver.mayHaveMore || !this.#isLow(receiver)) return false
    receiver.mayHaveMore = false
    return true
  }

  /** Removes the jobs that match and have not started. */
  forget(matches: (job: Job) => boolean): void {
    for (const receiver of this.#receivers.values()) {
      const waiting = [...receiver.retries, ...[...receiver.first.values()].flat()]
      const forgotten = waiting.filter(matches)
      if (forgotten.length === 0) continue
      const isKept = (job: Job) => !matches(job)
      receiver.retries = receiver.retries.filter(isKept)
      for (const [subject, jobs] of receiver.first) {
        const kept = jobs.filter(isKept)
        if (kept.length > 0) receiver.first.set(subject, kept)
        else receiver.first.delete(subject)
      }
      for (const job of forgotten) this.#remove(receiver, job)
    }
  }

  /** Forgets an endpoint that is deleted or inactive. */
  forgetEndpoints(ids: readonly string[]): void {
    const isGone = new Set<ReceiverId>(ids)
    this.forget(({ endpointId }) => isGone.has(endpointId))
    for (const id of ids) this.#slow.delete(id)
  }

  #isLow(receiver: Receiver): boolean {
    return receiver.held < Math.ceil(this.capacity / 2)
  }

  #remove(receiver: Receiver, job: Job): void {
    this.#ids.delete(job.id)
    receiver.held--
    if (receiver.held === 0) this.#receivers.delete(receiver.id)
  }

  #receiverOf({ endpointId }: Job): Receiver {
    const existing = this.#receivers.get(endpointId)
    if (existing) return existing
    const receiver: Receiver = {
      id: endpointId,
      first: new Map(),
      retries: [],
      retryNext: false,
      busySubjects: new Set(),
      active: 0,
      held: 0,
      mayHaveMore: false,
    }
    this.#receivers.set(endpointId, receiver)
    return receiver
  }
}

/** First attempts and retries in turn. */
function takeJob(receiver: Receiver): Job | undefined {
  const retry = receiver.retryNext ? receiver.retries.shift() : undefined
  const job = retry ?? takeFirst(receiver) ?? receiver.retries.shift()
  receiver.retryNext = job !== undefined && job.attempts === 0
  return job
}

/** The oldest job of the subject that waited longest and has no first attempt in progress. */
function takeFirst({ first, busySubjects }: Receiver): Job | undefined {
  for (const [subject, jobs] of first) {
    if (busySubjects.has(subject)) continue
    const job = jobs.shift()
    first.delete(subject)
    if (jobs.length > 0) first.set(subject, jobs)
    if (job) return job
  }
  return undefined
}
