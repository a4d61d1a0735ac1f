import type { ClaimedJob, Progress } from './jobs.repository.ts'

/** Adds to the progress of a job; throws when another process has taken it over. */
export type Report = (more: Progress) => Promise<void>

/** The tools of a job. */
export interface JobWork {
  job: ClaimedJob
  report: Report
  signal: AbortSignal
}

/** A job cannot succeed, however often it is tried. */
export class JobFailed extends Error {}
