import type { Job } from './queue.repository.ts'

/** Makes an attempt; tells when the receiver has answered, and resolves when that is on record. */
type Work = (job: Job, answered: () => void) => Promise<void>

/**
 * What is held in memory, and who may go next: first attempts of a lane one after the other,
 * lanes in turn, retries whenever there is room. A worker is free once the receiver has answered; as
 * many answers as there are workers may wait for their record, which is what a crash sends twice.
 */
export function workingSet(workers: number, work: Work) {
  const known = new Set<number>()
  const lanes = new Map<number, Job[]>()
  const retries: Job[] = []
  const busyLanes = new Set<number>()
  const underWay = new Set<Job>()
  let sending = 0
  let isPumpDue = false
  let tellRoom = () => {}
  let waitingForIdle: (() => void)[] = []

  function next(): Job | undefined {
    for (const [lane, jobs] of lanes) {
      if (busyLanes.has(lane)) continue
      const job = jobs.shift()
      // To the end of the line: the other lanes come first now.
      lanes.delete(lane)
      if (jobs.length > 0) lanes.set(lane, jobs)
      if (job) return job
    }
    return retries.shift()
  }

  function pump(): void {
    while (sending < workers && underWay.size < 2 * workers) {
      const job = next()
      if (!job) break
      start(job)
    }
  }

  /** Once for all that end in the same turn: many requests that go out together cost less each. */
  function pumpSoon(): void {
    if (isPumpDue) return
    isPumpDue = true
    setImmediate(() => {
      isPumpDue = false
      pump()
    })
  }

  function start(job: Job): void {
    const ordered = job.attempts === 0
    let isSent = false
    const answered = () => {
      if (isSent) return
      isSent = true
      sending--
      if (ordered) busyLanes.delete(job.lane)
    }
    underWay.add(job)
    sending++
    if (ordered) busyLanes.add(job.lane)
    work(job, () => {
      answered()
      pumpSoon()
    })
      .catch(() => {})
      .finally(() => {
        answered()
        underWay.delete(job)
        known.delete(job.id)
        pumpSoon()
        if (known.size < workers * 4) tellRoom()
        if (underWay.size === 0) {
          for (const tell of waitingForIdle) tell()
          waitingForIdle = []
        }
      })
  }

  return {
    get size() {
      return known.size
    },
    /** Enough to do for now; reading the queue again can wait. */
    get isBusy() {
      return known.size - underWay.size >= workers * 8
    },
    has: (id: number) => known.has(id),
    busyLanes: () => [...underWay].map(({ lane }) => lane),
    add(jobs: Job[]) {
      for (const job of jobs) {
        known.add(job.id)
        if (job.attempts > 0) retries.push(job)
        else {
          const lane = lanes.get(job.lane)
          if (lane) lane.push(job)
          else lanes.set(job.lane, [job])
        }
      }
      pump()
    },
    /** Lanes that are another daemon's now are forgotten. */
    keepOnly(owned: Set<number>) {
      for (const [lane, jobs] of lanes) {
        if (owned.has(lane)) continue
        for (const { id } of jobs) known.delete(id)
        lanes.delete(lane)
      }
      for (const job of retries.splice(0)) {
        if (owned.has(job.lane)) retries.push(job)
        else known.delete(job.id)
      }
    },
    onRoom(tell: () => void) {
      tellRoom = tell
    },
    /** Starts nothing more and waits for what is under way. */
    async idle() {
      for (const jobs of lanes.values()) for (const { id } of jobs) known.delete(id)
      lanes.clear()
      retries.length = 0
      if (underWay.size > 0) await new Promise<void>((resolve) => waitingForIdle.push(resolve))
    },
  }
}
