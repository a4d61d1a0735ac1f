import type { Core } from '../../../core.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { claimNamed, newLease, releaseLease } from '../../../jobs/lease.ts'
import { onceEvery } from '../../../lib/once-every.ts'
import { periodically } from '../../../lib/periodically.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import * as repository from '../rate-limiter.repository.ts'
import { memoryCounters, type Stored } from './counters.memory.ts'
import { redisCounters } from './counters.redis.ts'
import { remoteCounters } from './counters.remote.ts'
import { type Counters, CountersUnavailable } from './counters.ts'
import { usageCopy } from './usage-copy.ts'

const FLUSH_MS = 1000
const LEASE_SECONDS = 5
const OWNER_ROW = { id: true }
const BATCH = 1000
// Counters are stored in batches, so that decisions can run in between.
const PART = 25
const LOG_INTERVAL_MS = 30_000
const COPY_MS = MINUTE_MS

type Needs = Pick<Core, 'config' | 'db' | 'internalToken' | 'log' | 'now' | 'redis'>

/** The events that are stored in the transaction of the counts that caused them. */
interface Extra {
  readonly isEmpty: boolean
  /** Returns a callback for after the commit. */
  store(tx: Tx): Promise<() => void>
}

export type Counting = ReturnType<typeof counting>

// One per process: the API and the rate limiter must use the same counters.
const known = new WeakMap<Db, Counting>()

export function countingOf(core: Needs): Counting {
  let found = known.get(core.db)
  if (!found) {
    found = counting(core)
    known.set(core.db, found)
  }
  return found
}

/** Closes the counters of this process, if it opened any. */
export const closeCounting = ({ db }: Pick<Core, 'db'>) => known.get(db)?.close()

/**
 * Selects where messages are counted. With Redis, in Redis for any number of processes. Without it, in
 * the memory of the rate limiter that holds the ownership row; other processes ask that one over HTTP
 * when its URL is configured.
 */
function counting({ config, db, internalToken, log, now, redis }: Needs) {
  const lease = newLease(LEASE_SECONDS)
  const shared = redis && redisCounters(redis.connection)
  const remote =
    config.RATE_LIMITER_URL === undefined ? undefined : remoteCounters(config, internalToken)
  const memory = memoryCounters({ load: (subject) => repository.loadUsage(db, subject) })
  const extras: Extra[] = []
  let isOwner = false
  let loop: ReturnType<typeof periodically> | undefined
  let hearing: (() => Promise<void>) | undefined

  const current = (): Counters => {
    const found = shared ?? (isOwner ? memory : remote)
    if (found) return found
    throw new CountersUnavailable('no process of this database counts here')
  }

  // An embedded database has only this process, so an ownership row of another one is stale.
  const isAlone = config.DATABASE_URL === undefined

  async function own(force: boolean): Promise<void> {
    const held = await claimNamed(db, 'rate_limit_owner', OWNER_ROW, lease, force)
    if (held === isOwner) return
    // Counts in memory are stale after a change of ownership; start from the stored ones.
    memory.forgetAll()
    isOwner = held
    if (held) log.info('this process counts messages')
    else log.error('another process counts messages; set REDIS_URL to let several processes count')
  }

  async function flush(): Promise<void> {
    if (!shared) await own(false)
    const due = isOwner ? memory.changed : 0
    const waiting = extras.filter((extra) => !extra.isEmpty)
    if (due === 0 && waiting.length === 0) return memory.forgetIdle(now().getTime())
    const stored: Stored[] = []
    try {
      const committed = await db.transaction().execute(async (tx) => {
        while (stored.length < Math.min(due, BATCH)) {
          const part = memory.takeDirty(PART)
          if (part.length === 0) break
          stored.push(...part)
          await repository.storeUsage(tx, part, now())
        }
        const dones: (() => void)[] = []
        for (const extra of waiting) dones.push(await extra.store(tx))
        return dones
      })
      for (const done of committed) done()
    } catch (error) {
      memory.giveBack(stored)
      throw error
    }
    // New counts wait for the next interval; otherwise a busy process would store without a pause.
    if (due > stored.length) await flush()
  }

  const mayLog = onceEvery(LOG_INTERVAL_MS)
  const failed = (error: unknown) => {
    if (mayLog()) log.error({ err: error }, 'storing counts failed, will retry')
  }

  const copy = usageCopy(db, { usage: async (subject, at) => current().usage(subject, at) }, now)
  let copying: ReturnType<typeof periodically> | undefined

  return {
    counters: {
      decide(question) {
        copy.note(question)
        return current().decide(question)
      },
      usage: async (subject, at) => current().usage(subject, at),
      reset: async (subject) => current().reset(subject),
    } satisfies Counters as Counters,

    get isOwner() {
      return isOwner || shared !== undefined
    },
    get size() {
      return memory.size
    },

    /** Starts counting, or waits to take over the ownership. */
    async start(extra: Extra, settled: () => Promise<void>): Promise<void> {
      extras.push(extra)
      hearing = settled
      if (redis) await redis.connection()
      else {
        await own(isAlone)
        if (!isOwner) log.warn('another process counts messages; this process is on standby')
      }
      loop = periodically(FLUSH_MS, flush, failed)
      copying = periodically(COPY_MS, copy.store, failed)
    },
    /** Waits until this process has applied every rule that is stored. */
    settled: async () => hearing?.(),
    /** Stores pending counts. */
    async flush(): Promise<void> {
      await loop?.now()
      await copying?.now()
    },
    async stop(): Promise<void> {
      await copying?.stop()
      await loop?.stop()
      copying = undefined
      loop = undefined
      hearing = undefined
      extras.length = 0
      if (isOwner) await releaseLease(db, 'rate_limit_owner', OWNER_ROW, lease).catch(failed)
      isOwner = false
      memory.forgetAll()
    },
    close(): void {
      known.delete(db)
    },
  }
}
