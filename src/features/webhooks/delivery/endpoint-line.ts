import type { Job } from './queue.repository.ts'

/** What is held for one endpoint. */
export interface Line {
  endpointId: string
  lane: number
  first: Job[]
  retries: Job[]
  busySubjects: Set<number>
  active: number
  isSlow: boolean
  retryNext: boolean
  /** The database had as many entries as were asked for, so it may have more. */
  mayHaveMore: boolean
}

export const held = (line: Line) => line.first.length + line.retries.length + line.active

export const newLine = (endpointId: string, lane: number, isSlow: boolean): Line => ({
  endpointId,
  lane,
  first: [],
  retries: [],
  busySubjects: new Set(),
  active: 0,
  isSlow,
  retryNext: false,
  mayHaveMore: false,
})

/**
 * First attempts and retries in turn; of the first attempts the oldest about something that has none
 * under way.
 */
export function takeNext(line: Line): Job | undefined {
  const retry = line.retryNext ? line.retries.shift() : undefined
  const at = retry ? -1 : line.first.findIndex((job) => !line.busySubjects.has(job.subject))
  const job = retry ?? (at >= 0 ? line.first.splice(at, 1)[0] : line.retries.shift())
  line.retryNext = job !== undefined && job.attempts === 0
  return job
}
