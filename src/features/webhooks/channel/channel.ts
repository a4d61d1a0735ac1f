import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../core.ts'
import { DAY_SECONDS } from '../../../lib/time.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { aboutClaim, domainIn } from '../attribution.ts'
import { type Claim, claimMessage } from './channel.repository.ts'
import { type Message, type Problem, readMessage } from './message.ts'
import { occurrences, WINDOW_SECONDS } from './occurrences.ts'

export const CHANNEL = 'mailyte:webhooks'

const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024
const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000
const STOP_TIMEOUT_MS = 2000

type Needs = Pick<Core, 'db' | 'events' | 'log'>

export type Channel = ReturnType<typeof startChannel>

/**
 * Stores the messages that other services publish as events, in the order they arrive. Redis does not
 * keep them, so they wait in memory while the database is down, up to a limit.
 */
export function startChannel(core: Needs & { redis: NonNullable<Core['redis']> }) {
  const { log, redis } = core
  const counts = { stored: 0, duplicate: 0, dropped: 0 }
  const malformed: Record<Problem, number> = {
    too_large: 0,
    not_json: 0,
    shape: 0,
    unknown_event: 0,
    data: 0,
  }
  const countOccurrence = occurrences(Date.now)
  const waiting: { message: Message; claim: Claim; bytes: number }[] = []
  let waitingBytes = 0
  let working: Promise<void> | undefined
  let stopping = false

  function receive(content: Buffer): void {
    const message = readMessage(content)
    if (typeof message === 'string') {
      malformed[message]++
      log.debug({ problem: message }, 'channel message dropped')
      return
    }
    const claim = claimOf(message, content, countOccurrence)
    const bytes = content.length
    if (waiting.length >= MAX_WAITING || waitingBytes + bytes > MAX_WAITING_BYTES) {
      if (counts.dropped++ === 0)
        log.error('channel messages dropped: too many wait for the database')
      return
    }
    waiting.push({ message, claim, bytes })
    waitingBytes += bytes
    working ??= work().finally(() => {
      working = undefined
    })
  }

  async function work(): Promise<void> {
    let pause = MIN_PAUSE_MS
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        counts[(await store(core, next.message, next.claim)) ? 'stored' : 'duplicate']++
        pause = MIN_PAUSE_MS
      } catch (error) {
        if (!isRefusal(error)) {
          if (pause === MIN_PAUSE_MS)
            log.warn({ err: error }, 'channel messages not stored yet: database error')
          if (stopping) return
          await sleep(pause, undefined, { ref: false })
          pause = Math.min(2 * pause, MAX_PAUSE_MS)
          continue
        }
        malformed.data++
        log.warn(
          { err: error, event: next.message.type.name },
          'channel message rejected by the database',
        )
      }
      waiting.shift()
      waitingBytes -= next.bytes
    }
  }

  const subscription = redis.subscribe(CHANNEL, receive)
  return {
    counts,
    malformed,
    get subscribed() {
      return subscription.subscribed
    },
    /** Unsubscribes, and stores the messages that wait if the database answers soon. */
    async stop() {
      subscription.close()
      stopping = true
      await Promise.race([working, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
}

/** Identifies a message, so that every daemon that receives it makes the same claim. */
function claimOf(
  message: Message,
  content: Buffer,
  countOccurrence: ReturnType<typeof occurrences>,
): Claim {
  if (message.id !== undefined) {
    return { fingerprint: `id ${message.id}`, occurrence: 1, windowSeconds: DAY_SECONDS }
  }
  const fingerprint = sha256(content)
  return { fingerprint, occurrence: countOccurrence(fingerprint), windowSeconds: WINDOW_SECONDS }
}

/** Returns false when another daemon has stored the message. */
function store({ db, events }: Needs, message: Message, claim: Claim): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (!(await claimMessage(tx, claim))) return false
    const { type, tags, user_variables, metadata, data } = message
    const about = await aboutClaim(tx, {
      org_id: message.org_id ?? textOf(data.organization_id),
      domain: message.domain ?? domainOfSubject(data),
    })
    await events.emit(tx, type, { ...about, tags, user_variables, metadata }, data)
    return true
  })
}

/** The domain in the data of the event, for producers that name none. */
function domainOfSubject(data: Record<string, unknown>): string | undefined {
  const domain = textOf(data.domain)
  const addresses = [data.user, data.email, data.mailbox, data.recipient]
  return domain ?? addresses.map(domainIn).find((name) => name !== undefined)
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 253 ? value : undefined

/** PostgreSQL will never accept this value: error classes 22 and 23 are about the data itself. */
const isRefusal = (error: unknown): boolean =>
  /^2[23]/.test(String((error as Error & { code?: string }).code))
