import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../core.ts'
import { ulid } from '../../lib/ulid.ts'
import { attemptReader, type Read } from './attempts.ts'
import { autoSuspend } from './auto-suspend.ts'
import { linesOf } from './lines.ts'
import { followLog, type Portion } from './log-follower.ts'
import { type Message, messagesUnderWay } from './messages.ts'
import * as positions from './positions.repository.ts'
import { attemptRecorder } from './record-attempts.ts'
import { type Counted, sameRows } from './same-rows.ts'

const PORTION_BYTES = 6 * 1024 * 1024
const POLL_MS = 250
const RETRY_MS = 1000
const LEASE_SECONDS = 6
const RENEW_MS = 2000

type Needs = Pick<Core, 'authCache' | 'config' | 'db' | 'events' | 'log' | 'now'>

class OvertakenError extends Error {}

/** A portion of the log with what was made of it. */
interface Work {
  from: Pick<Portion['after'], 'inode' | 'offset'>
  portion: Portion
  read: Read
  messages: { changed: Message[]; gone: string[] }
  counted: Counted
}

/** Follows the log of the mail server until told to stop. */
export type Ingestor = ReturnType<typeof startIngestor>

export function startIngestor(core: Needs, path: string) {
  const { config, db, log, authCache } = core
  const name = `${config.MAIL_LOG_NAME ?? hostname()}:${path}`
  const owner = ulid()
  const reader = { name, owner, seconds: LEASE_SECONDS }
  const takeLease = () => positions.takeLease(db, name, owner, LEASE_SECONDS)
  const recorder = attemptRecorder(core)
  const suspend = autoSuspend(core)
  const counts = { rows: 0 }
  const stopping = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})

  async function follow(): Promise<void> {
    const stored = await positions.load(db, name)
    const messages = messagesUnderWay(stored.messages)
    const counted = sameRows(stored.counted)
    const read = attemptReader({
      messages,
      counted,
      internalRelays: config.MAIL_LOG_INTERNAL_RELAYS,
      now: core.now,
    })
    const follower = followLog(path, stored.position, PORTION_BYTES)
    let before: Work['from'] = stored.position
    const lease = keptLease()
    // Two portions are being stored at a time, while the next one is read.
    let storing: Promise<void> = Promise.resolve()
    let last: Promise<void> = storing
    try {
      while (!stopping.signal.aborted && !lease.isLost) {
        const portion = await follower.next()
        if (portion) {
          if (portion.isStart) counted.clear()
          const found = await read(linesOf(portion.bytes))
          const changes = { messages: messages.takeChanges(), counted: counted.take() }
          await storing
          storing = last
          last = store({ from: before, portion, read: found, ...changes }, last)
          before = portion.after
          // Who waits for it hears of its failure; until then it must not be nobody.
          last.catch(() => {})
          continue
        }
        await last
        await pause(POLL_MS)
      }
      await last
    } finally {
      await last.catch(() => {})
      await lease.leave()
      await follower.close()
    }
  }

  /** Also while a portion is stored, however long that takes: another reader would begin it anew. */
  function keptLease() {
    let isLost = false
    let renewing: Promise<void> | undefined
    const renew = async () => {
      isLost = !(await takeLease())
    }
    const timer = setInterval(() => {
      renewing ??= renew()
        // Whoever stores the next portion will say what is wrong with the database.
        .catch(() => {})
        .finally(() => {
          renewing = undefined
        })
    }, RENEW_MS)
    return {
      get isLost() {
        return isLost
      },
      async leave() {
        clearInterval(timer)
        await renewing
      },
    }
  }

  /** All of it in one transaction, which ends after that of the portion before. */
  async function store(work: Work, previous: Promise<void>): Promise<void> {
    const { from, portion, read, messages, counted } = work
    const [fresh, suspended] = await db.transaction().execute(async (tx) => {
      await positions.waitAtMost(tx, LEASE_SECONDS)
      const added = await recorder.add(tx, read)
      await previous
      if (!(await positions.advance(tx, reader, from, portion.after, counted))) {
        throw new OvertakenError('another process reads the log now')
      }
      await recorder.conclude(tx, read, added)
      await positions.storeMessages(tx, name, messages, Date.now())
      return [added.fresh, await suspend(tx, added.fresh)] as const
    })
    counts.rows += fresh.length
    if (suspended.length > 0) {
      log.warn({ credentials: suspended }, 'SMTP credentials suspended: most of their mail fails')
      await authCache.flush(suspended)
    }
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await takeLease()) await follow()
      } catch (error) {
        if (!(error instanceof OvertakenError)) {
          log.error({ err: error }, 'the mail log could not be read')
        }
      }
      await pause(RETRY_MS)
    }
  })()

  return {
    counts,
    async stop() {
      stopping.abort()
      await running
      await positions.releaseLease(db, name, owner).catch(() => {})
    },
  }
}
