import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { Recovery } from '../monitoring.events.ts'
import { claimAttempt, deleteAttemptsBefore, noteOutcome } from './restarts.repository.ts'

const SHOWN_ERROR = 300
const HISTORY_MS = 90 * DAY_MS

/** The services that can be restarted from here, and for the others the reason why not. */
export interface Restarts {
  of(service: string): { restart: () => Promise<void>; why?: undefined } | { why: string }
}

export type Outcome =
  | { kind: 'restarted' }
  | { kind: 'failed'; error: string }
  | { kind: 'impossible'; why: string }
  | { kind: 'too-often'; retryAfter: number }

interface Options {
  automatic: boolean
  reason?: string | undefined
  /** Skips the limit of attempts. */
  force?: boolean
  /** Stores the outcome in the transaction of the caller. */
  store?: (work: (tx: Tx) => Promise<void>) => Promise<void>
}

interface Needs extends Pick<Core, 'db' | 'events' | 'log' | 'now'> {
  restarts: Restarts
}

export type Restarter = ReturnType<typeof restarter>

/** Restarts a service within the limit of attempts and emits the outcome. */
export function restarter({ db, events, log, now, restarts }: Needs) {
  const ownTransaction = (work: (tx: Tx) => Promise<void>) => db.transaction().execute(work)

  return {
    can: (service: string) => restarts.of(service),

    async restart(service: string, options: Options): Promise<Outcome> {
      const { automatic, reason = null, force = false, store = ownTransaction } = options
      const possible = restarts.of(service)
      if (possible.why !== undefined) return { kind: 'impossible', why: possible.why }
      const id = ulid()
      const attempt = { id, service, automatic, reason, now: now() }
      const retryAfter = await claimAttempt(db, attempt, force)
      if (retryAfter !== undefined) return { kind: 'too-often', retryAfter }
      let error: string | null = null
      try {
        await possible.restart()
      } catch (problem) {
        error = (problem as Error).message.slice(0, SHOWN_ERROR)
        log.error({ err: problem, service }, 'restart failed')
      }
      await store(async (tx) => {
        await noteOutcome(tx, id, error)
        const outcome = { service, action: 'restart', success: error === null, automatic }
        const data = error === null ? outcome : { ...outcome, error }
        await events.emit(tx, Recovery, { org_id: null }, data)
      })
      return error === null ? { kind: 'restarted' } : { kind: 'failed', error }
    },
  }
}

export const deleteOldRestarts: Job = {
  name: 'monitoring.delete-old-restarts',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteAttemptsBefore(db, new Date(now().getTime() - HISTORY_MS)),
}
