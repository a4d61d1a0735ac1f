import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../core.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { aboutClaim, domainIn } from '../attribution.ts'
import { type Claim, claimMessage } from './channel.repository.ts'
import { type Message, type Problem, readMessage } from './message.ts'
import { occurrences, WINDOW_SECONDS } from './occurrences.ts'

export const CHANNEL = 'mailyte:webhooks'

const DAY_SECONDS = 24 * 3600
const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024
const LONGEST_PAUSE_MS = 2000
const LAST_CHANCE_MS = 2000

type Needs = Pick<Core, 'db' | 'events' | 'log'>

export type Channel = ReturnType<typeof startChannel>

/**
 * Stores what other services publish as events, in the order it came. Redis keeps nothing: while
 * the database is away messages wait here, as many as there is room for.
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
  const number = occurrences(Date.now)
  const waiting: { message: Message; claim: Claim; bytes: number }[] = []
  let waitingBytes = 0
  let working: Promise<void> | undefined
  let stopping = false

  function receive(content: Buffer): void {
    const message = readMessage(content)
    if (typeof message === 'string') {
      malformed[message]++
      log.debug({ problem: message }, 'message of the channel dropped')
      return
    }
    const claim = claimOf(message, content, number)
    const bytes = content.length
    if (waiting.length >= MAX_WAITING || waitingBytes + bytes > MAX_WAITING_BYTES) {
      if (counts.dropped++ === 0) log.error('the channel is faster than the database')
      return
    }
    waiting.push({ message, claim, bytes })
    waitingBytes += bytes
    working ??= work().finally(() => {
      working = undefined
    })
  }

  async function work(): Promise<void> {
    let pause = 50
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        counts[(await store(core, next.message, next.claim)) ? 'stored' : 'duplicate']++
        pause = 50
      } catch (error) {
        if (!isRefusal(error)) {
          if (pause === 50)
            log.warn({ err: error }, 'messages of the channel wait for the database')
          if (stopping) return
          await sleep(pause, undefined, { ref: false })
          pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
          continue
        }
        malformed.data++
        log.warn({ err: error, event: next.message.type.name }, 'message of the channel refused')
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
    /** Hears no more, and stores what was heard if that is possible soon. */
    async stop() {
      subscription.close()
      stopping = true
      await Promise.race([working, sleep(LAST_CHANCE_MS, undefined, { ref: false })])
    },
  }
}

/** What makes a message the same one for every daemon that hears it. */
function claimOf(message: Message, content: Buffer, number: ReturnType<typeof occurrences>): Claim {
  if (message.id !== undefined) {
    return { fingerprint: `id ${message.id}`, occurrence: 1, windowSeconds: DAY_SECONDS }
  }
  const fingerprint = sha256(content)
  return { fingerprint, occurrence: number(fingerprint), windowSeconds: WINDOW_SECONDS }
}

/** False when another daemon has stored it, or is a moment ahead. */
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

/** Where the producer named no domain, whom the event is about has one. */
function domainOfSubject(data: Record<string, unknown>): string | undefined {
  const named = textOf(data.domain)
  const addresses = [data.user, data.email, data.mailbox, data.recipient]
  return named ?? addresses.map(domainIn).find((domain) => domain !== undefined)
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 253 ? value : undefined

/** PostgreSQL will never take this value: classes 22 and 23 are about the data itself. */
const isRefusal = (error: unknown): boolean =>
  /^2[23]/.test(String((error as Error & { code?: string }).code))
