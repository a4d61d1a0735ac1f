import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { ApiError } from '../../../errors.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { limiter } from '../../../lib/mutex.ts'
import { periodically } from '../../../lib/periodically.ts'
import { DAY_MS, HOUR_SECONDS, MINUTE_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { KeyJobNotFound, TooManyKeyJobs } from '../encryption.errors.ts'
import { lockAddress } from '../encryption.repository.ts'
import type { Whose } from '../whose.ts'
import * as jobs from './pgp.repository.ts'
import type { ReadKey } from './read-key.task.ts'

const TIME_LIMIT_MS = 10 * MINUTE_MS
const SIGN_OF_LIFE_MS = 10_000
const LOST_MS = 2 * MINUTE_MS
const MAX_RUNNING = 3
const INTERRUPTED = 'The service was stopped; ask for the key again'

/** Makes the key, then stores it. */
interface Work {
  make(timeLimitMs: number): Promise<ReadKey>
  store(tx: Tx, made: ReadKey): Promise<void>
}

export type KeyJobs = ReturnType<typeof keyJobs>

/**
 * Makes large keys one after the other. The passphrase stays in the memory of this process, so no other
 * process can take over a job.
 */
export function keyJobs({ change, db, log, now }: Pick<Core, 'change' | 'db' | 'log' | 'now'>) {
  const inTurn = limiter(1)
  const running = new Set<string>()
  const lostBefore = () => new Date(now().getTime() - LOST_MS)
  const signs = periodically(
    SIGN_OF_LIFE_MS,
    async () => {
      if (running.size === 0) return
      await jobs.updateJobs(db, [...running], { seen_at: now().toISOString() })
    },
    (error) => log.warn({ err: error }, 'key jobs gave no sign of life'),
  )

  async function run(id: string, { make, store }: Work): Promise<void> {
    try {
      const made = await inTurn(() => make(TIME_LIMIT_MS))
      await db.transaction().execute(async (tx) => {
        await store(tx, made)
        const { fingerprint } = made
        await jobs.updateJobs(tx, [id], { status: 'completed', fingerprint })
      })
    } catch (error) {
      if (!running.has(id)) return
      log.warn({ err: error }, 'a key was not made')
      const reason = error instanceof ApiError ? error.message : 'The key could not be made'
      await jobs.updateJobs(db, [id], { status: 'failed', error: reason })
    } finally {
      running.delete(id)
    }
  }

  return {
    async get(whose: Whose, id: string) {
      const found = await jobs.findJob(db, whose, id, lostBefore())
      if (!found) throw new KeyJobNotFound()
      return found
    },

    async start(
      caller: Caller,
      { organizationId }: Whose,
      { email, account_id }: { email: string; account_id: string },
      work: Work,
    ) {
      const id = ulid()
      const at = now().toISOString()
      const job = await change(caller, async (tx) => {
        await lockAddress(tx, organizationId, '')
        if ((await jobs.countJobs(tx, organizationId, lostBefore())) >= MAX_RUNNING) {
          throw new TooManyKeyJobs({ limit: MAX_RUNNING })
        }
        return jobs.insertJob(tx, {
          id,
          organization_id: organizationId,
          account_id,
          email,
          status: 'running',
          created_at: at,
          seen_at: at,
        })
      })
      running.add(id)
      void run(id, work).catch((error) => log.warn({ err: error }, 'a key job was not ended'))
      return job
    },

    /** The jobs that run have failed: their passphrases are lost with the process. */
    async close(): Promise<void> {
      const ids = [...running]
      running.clear()
      await signs.stop()
      if (ids.length > 0) await jobs.updateJobs(db, ids, { status: 'failed', error: INTERRUPTED })
    },
  }
}

export const forgetKeyJobs: Job = {
  name: 'encryption.forget-key-jobs',
  everySeconds: HOUR_SECONDS,
  async run({ db, now }) {
    await jobs.deleteOldJobs(db, new Date(now().getTime() - DAY_MS))
  },
}
