import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { type Lease, LeaseLost } from '../../../jobs/lease.ts'
import type { Embedder } from '../embedding/embedder.ts'
import type { Settings } from '../settings/settings.service.ts'
import { holdConsent } from './folders.repository.ts'
import * as jobs from './jobs.repository.ts'

/** A job that runs in this process. */
export interface Run {
  core: Core
  job: jobs.Job
  lease: Lease
  domain: { id: string; name: string; collection_id: string }
  settings: Settings
  embedder: Embedder
  /** Aborts when the process stops or the lease is lost. */
  signal: AbortSignal
}

/** The job must not continue. */
export class Abandoned extends Error {}

interface Progress {
  documents: number
  chunks: number
  removed: number
}

/** Stores a step and the progress of a job. Fails if the lease or the consent to read mail is gone. */
export const step = <Result>(
  run: Run,
  work: (tx: Tx) => Promise<{ result: Result; progress: Progress }>,
): Promise<Result> =>
  run.core.db.transaction().execute(async (tx) => {
    run.signal.throwIfAborted()
    if (!(await holdConsent(tx, run.domain.id)))
      throw new Abandoned('the consent to index mail of this domain was withdrawn')
    const { result, progress } = await work(tx)
    if (!(await jobs.advance(tx, run.job.id, run.lease, progress))) throw new LeaseLost()
    return result
  })
