import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import type { Embedder } from '../embedding/embedder.ts'
import type { Settings } from '../settings/settings.service.ts'
import { holdConsent } from './folders.repository.ts'
import * as jobs from './jobs.repository.ts'

/** A job under way in this process. */
export interface Run {
  core: Core
  job: jobs.Job
  owner: string
  domain: { id: string; name: string; collection_id: string }
  settings: Settings
  embedder: Embedder
  /** Ends when the process stops, or the job is somebody else's. */
  signal: AbortSignal
}

/** Another process has the job, or nobody may do it any more. */
export class Abandoned extends Error {}

interface Progress {
  documents: number
  chunks: number
  removed: number
}

/** Stores a step of a job together with how far it is; not when the job or the consent is gone. */
export const step = <Result>(
  run: Run,
  work: (tx: Tx) => Promise<{ result: Result; progress: Progress }>,
): Promise<Result> =>
  run.core.db.transaction().execute(async (tx) => {
    run.signal.throwIfAborted()
    if (!(await holdConsent(tx, run.domain.id)))
      throw new Abandoned('mail may not be read any more')
    const { result, progress } = await work(tx)
    const seconds = run.core.config.RAG_LEASE_SECONDS
    if (!(await jobs.advance(tx, run.job.id, run.owner, seconds, progress))) {
      throw new Abandoned('another process has the job')
    }
    return result
  })
