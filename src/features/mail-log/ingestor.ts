import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../core.ts'
import { patiently } from '../../database/budget.ts'
import { claimNamed, keepLease, LeaseLost, newLease, releaseLease } from '../../jobs/lease.ts'
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

type Needs = Pick<Core, 'authCache' | 'config' | 'db' | 'events' | 'log' | 'now'>

/** A portion of the log and the data read from it. */
interface Work {
  from: Pick<Portion['after'], 'inode' | 'offset'>
  portion: Portion
  read: Read
  messages: { changed: Message[]; gone: string[] }
  counted: Counted
}

export type Ingestor = ReturnType<typeof startIngestor>

/** Follows the log of the mail server until `stop` is called. */
export function startIngestor(core: Needs, path: string) {
  const { config, db, log, authCache } = core
  const name = `${config.MAIL_LOG_NAME ?? hostname()}:${path}`
  const lease = newLease(LEASE_SECONDS)
  const claim = () => claimNamed(db, 'mail_log_positions', { name }, lease)
  const recorder = attemptRecorder(core)
  const suspend = autoSuspend(core)
  const counts = { rows: 0 }
  const stopping = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})

  async function follow(claimedAt: number): Promise<void> {
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
    // Renews the lease while a portion is stored; otherwise another process would read it again.
    const leaseKeeper = keepLease(lease, claim, { log, claimedAt })
    // Up to two portions are stored at a time while the next one is read.
    let storing: Promise<void> = Promise.resolve()
    let last: Promise<void> = storing
    try {
      while (!stopping.signal.aborted && !leaseKeeper.signal.aborted) {
        const portion = await follower.next()
        if (portion) {
          if (portion.isStart) counted.clear()
          const attempts = await read(linesOf(portion.bytes))
          const changes = { messages: messages.takeChanges(), counted: counted.take() }
          await storing
          storing = last
          const work = { from: before, portion, read: attempts, ...changes }
          const previous = last
          last = patiently(() => store(work, previous))
          before = portion.after
          // A rejection is handled where the promise is awaited.
          last.catch(() => {})
          continue
        }
        await last
        await pause(POLL_MS)
      }
      await last
    } finally {
      await last.catch(() => {})
      await leaseKeeper.stop()
      await follower.close()
    }
  }

  /**
   * Stores a portion in one transaction, which commits after that of the previous portion. A portion
   * may take as long as the lease is renewed: given up, it would only begin anew.
   */
  async function store(work: Work, previous: Promise<void>): Promise<void> {
    const { from, portion, read, messages, counted } = work
    const [fresh, suspended] = await db.transaction().execute(async (tx) => {
      await positions.waitAtMost(tx, LEASE_SECONDS)
      const added = await recorder.add(tx, read)
      await previous
      const isHeld = await positions.advance(tx, name, lease, from, portion.after, counted)
      if (!isHeld) throw new LeaseLost()
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
        const claimedAt = performance.now()
        if (await claim()) await follow(claimedAt)
      } catch (error) {
        if (!(error instanceof LeaseLost)) log.error({ err: error }, 'mail log ingestion failed')
      }
      await pause(RETRY_MS)
    }
  })()

  return {
    counts,
    async stop() {
      stopping.abort()
      await running
      await releaseLease(db, 'mail_log_positions', { name }, lease).catch(() => {})
    },
  }
}
