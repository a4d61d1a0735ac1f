import type { Core } from '../../core.ts'
import type { Db, Tx } from '../../database/database.ts'
import { periodically } from '../../lib/periodically.ts'
import { ulid } from '../../lib/ulid.ts'
import { memoryCounters, type Stored } from './counters.memory.ts'
import { redisCounters } from './counters.redis.ts'
import { remoteCounters } from './counters.remote.ts'
import { type Counters, CountersUnavailable } from './counters.ts'
import * as repository from './rate-limiter.repository.ts'

const FLUSH_MS = 1000
const OWNER_SECONDS = 5
const BATCH = 1000
// Between two parts decisions are made: nobody waits while a thousand counters are written down.
const PART = 25
const COMPLAIN_MS = 30_000

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'now' | 'redis'>

/** What is stored together with the counts: the events they caused. */
interface Extra {
  readonly isEmpty: boolean
  /** Answers what is to be done once it is committed. */
  store(tx: Tx): Promise<() => void>
}

export type Counting = ReturnType<typeof counting>

// One per process: the API and the daemon that decides about mail must look at the same counters.
const known = new WeakMap<Db, Counting>()

export function countingOf(core: Needs): Counting {
  let found = known.get(core.db)
  if (!found) {
    found = counting(core)
    known.set(core.db, found)
  }
  return found
}

/** Lets go of what this process has used, if it has. */
export const closeCounting = ({ db }: Pick<Core, 'db'>) => known.get(db)?.close()

/**
 * Who counts. With Redis, Redis does, for any number of processes. Without it one process has the
 * counters in its memory: the one that runs the rate limiter and holds the ownership row. Another
 * process asks that one over HTTP, when it was told where it is.
 */
function counting({ config, db, log, now, redis }: Needs) {
  const holder = ulid()
  const shared = redis && redisCounters(redis.connection)
  const remote = config.RATE_LIMITER_URL === undefined ? undefined : remoteCounters(config)
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

  // An embedded database has one process: whatever the row says, nobody else is there.
  const isAlone = config.DATABASE_URL === undefined

  async function own(force: boolean): Promise<void> {
    const held = await repository.takeOwnership(db, holder, OWNER_SECONDS, force)
    if (held === isOwner) return
    // Who was replaced has counted for nobody since; who takes over starts from what was stored.
    memory.forgetAll()
    isOwner = held
    if (held) log.info('this process counts messages')
    else log.error('another process counts messages; set REDIS_URL to let several of them')
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
    // What was counted meanwhile waits its second, or a busy process would do nothing but store.
    if (due > stored.length) await flush()
  }

  let complainedAt = 0
  const failed = (error: unknown) => {
    if (Date.now() - complainedAt < COMPLAIN_MS) return
    complainedAt = Date.now()
    log.error({ err: error }, 'counts could not be stored; they are kept and tried again')
  }

  return {
    counters: {
      decide: (question) => current().decide(question),
      usage: async (subject, at) => current().usage(subject, at),
      reset: async (subject) => current().reset(subject),
    } satisfies Counters as Counters,

    get isOwner() {
      return isOwner || shared !== undefined
    },
    get size() {
      return memory.size
    },

    /** From here on this process counts, or stands by to take over. */
    async start(extra: Extra, settled: () => Promise<void>): Promise<void> {
      extras.push(extra)
      hearing = settled
      if (redis) await redis.connection()
      else {
        await own(isAlone)
        if (!isOwner) log.warn('another process counts messages; this one stands by')
      }
      loop = periodically(FLUSH_MS, flush, failed)
    },
    /** Waits until decisions in this process know of every rule that was stored before. */
    settled: async () => hearing?.(),
    /** Stores what has not been stored yet. */
    flush: async () => loop?.now(),
    async stop(): Promise<void> {
      await loop?.stop()
      loop = undefined
      hearing = undefined
      extras.length = 0
      if (isOwner) await repository.releaseOwnership(db, holder).catch(failed)
      isOwner = false
      memory.forgetAll()
    },
    close(): void {
      known.delete(db)
    },
  }
}
