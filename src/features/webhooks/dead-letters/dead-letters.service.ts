import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { narrowed } from '../../../database/scope.ts'
import { Unprocessable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { enqueueAgain } from '../delivery/queue.repository.ts'
import { HIDDEN_URL, hidesGlobalUrl } from '../global-url.ts'
import { DEAD_LETTER_STATUSES, readStatus } from '../webhook-statuses.ts'
import { CannotReplay, CannotResolve, DeadLetterNotFound } from './dead-letters.errors.ts'
import * as letters from './dead-letters.repository.ts'
import { readEnvelope } from './stored-payload.ts'

const MAX_BULK = 100
const NOTE =
  'The original envelope is sent again with its original id. A delivery resolves this dead letter; after another failure it is abandoned and there is a new one'

const OF_PLATFORM = 'it was sent to the webhook URL of the platform; an operator can replay it'
const STILL_QUEUED = 'it is being delivered again already'

interface Query {
  status?: string
  event_type?: string
  endpoint_id?: string
  organization_id?: string
}

interface Needs extends Pick<Core, 'change' | 'db' | 'now'> {
  /** The global webhook URL, if one is configured. */
  globalUrl: string | undefined
  /** True if events are delivered to endpoints. */
  fansOut: boolean
}

export type DeadLetterService = ReturnType<typeof deadLetterService>

export function deadLetterService({ change, db, fansOut, globalUrl, now }: Needs) {
  /** Returns why a letter has no receiver, if so. */
  async function problemOfTarget(
    tx: Db,
    { endpoint_id }: letters.DeadLetterRow,
  ): Promise<string | undefined> {
    if (endpoint_id === null) {
      return globalUrl === undefined ? 'no global webhook URL is configured' : undefined
    }
    if (!fansOut) return 'events are not delivered to endpoints here (WEBHOOK_FANOUT)'
    const active = await letters.isActiveEndpoint(tx, endpoint_id)
    return active ? undefined : 'its webhook endpoint is gone or inactive'
  }

  /** A tenant cannot replay to the global URL, nor enqueue an event that is still waiting. */
  async function problemForTenant(tx: Tx, caller: Caller, letter: letters.DeadLetterRow) {
    if (hidesGlobalUrl(caller, letter)) return OF_PLATFORM
    const isTenant = caller.scope !== 'platform'
    return isTenant && (await letters.isQueued(tx, letter)) ? STILL_QUEUED : undefined
  }

  /** Enqueues the event of a locked letter, or returns why that is impossible. */
  async function requeue(
    tx: Tx,
    letter: letters.DeadLetterRow,
    stored: ReadonlySet<string>,
  ): Promise<{ problem: string } | undefined> {
    const envelope = readEnvelope(letter.payload)
    const problem =
      problemOf(letter, envelope, stored.has(letter.event_id)) ??
      (await problemOfTarget(tx, letter))
    if (problem !== undefined) return { problem }
    if ('event' in envelope && !stored.has(letter.event_id)) {
      await letters.restoreEvent(tx, letter.event_id, envelope.event)
    }
    await enqueueAgain(tx, letter.event_id, letter.endpoint_id)
    await letters.markRetrying(tx, letter.id, now())
    return undefined
  }

  async function replay(caller: Caller, id: string) {
    const number = readId(id)
    if (number === undefined) throw new DeadLetterNotFound()
    return change(caller, async (tx) => {
      const [letter] = await letters.lock(tx, caller.scope, [number])
      if (!letter) throw new DeadLetterNotFound()
      const refusedToTenant = await problemForTenant(tx, caller, letter)
      if (refusedToTenant !== undefined) throw new CannotReplay(refusedToTenant)
      const refused = await requeue(tx, letter, await letters.holdEvents(tx, [letter.event_id]))
      if (refused) throw new CannotReplay(refused.problem)
      return { ...requeued(letter), note: NOTE }
    })
  }

  return {
    async list(caller: Caller, query: Query, page: Page) {
      const { status, organization_id, ...exact } = query
      const filterStatus = readStatus(status, DEAD_LETTER_STATUSES)
      const scope = narrowed(caller.scope, organization_id)
      const filter = { ...exact, ...(filterStatus && { status: filterStatus }) }
      const { items, total } = await letters.list(db, scope, filter, page)
      return paginated(items.map(shownTo(caller)), total, page)
    },

    async get(caller: Caller, id: string) {
      const number = readId(id)
      const letter = number === undefined ? undefined : await letters.find(db, caller.scope, number)
      if (!letter) throw new DeadLetterNotFound()
      const { event_id, payload, ...shown } = letter
      if (hidesGlobalUrl(caller, letter)) {
        return { ...shownTo(caller)(shown), payload: null, replayable: false }
      }
      const envelope = readEnvelope(payload)
      const stored = await letters.isStored(db, event_id)
      return {
        ...shown,
        payload: typeof payload === 'object' ? payload : null,
        // A missing global URL is a problem of the installation, not of the letter.
        replayable:
          problemOf(letter, envelope, stored) === undefined &&
          (letter.endpoint_id === null || (await problemOfTarget(db, letter)) === undefined),
        ...('problem' in envelope && { payload_error: envelope.problem }),
      }
    },

    replay,

    /** A platform caller owns no letter; it gives a reason and uses `replay`. */
    async replayOwn(caller: Caller, id: string) {
      if (caller.scope === 'platform') throw new DeadLetterNotFound()
      return replay(caller, id)
    },

    /** For a letter that needs no delivery any more. */
    async resolve(caller: Caller, id: string) {
      const number = readId(id)
      if (number === undefined) throw new DeadLetterNotFound()
      return change(caller, async (tx) => {
        const [letter] = await letters.lock(tx, caller.scope, [number])
        if (!letter) throw new DeadLetterNotFound()
        if (isEnded(letter)) throw new CannotResolve(`it is already ${letter.status}`)
        const resolved_at = now().toISOString()
        await letters.markResolved(tx, number, resolved_at)
        return { id: number, status: 'resolved' as const, resolved_at }
      })
    },

    /** Replays in one transaction; letters that cannot be replayed are returned with the reason. */
    async replayMany(caller: Caller, sent: readonly (string | number)[]) {
      if (sent.length > MAX_BULK) {
        throw new Unprocessable(
          `At most ${MAX_BULK} dead_letter_ids per call (${sent.length} supplied)`,
        )
      }
      const ids = [...new Set(sent.map((id) => readId(String(id)) ?? id))]
      const numbers = ids.filter((id) => typeof id === 'number')
      return change(caller, async (tx) => {
        const locked = numbers.length === 0 ? [] : await letters.lock(tx, caller.scope, numbers)
        // Ordered by event, like the first delivery.
        locked.sort((one, other) => (one.event_id < other.event_id ? -1 : 1))
        const eventIds = locked.map(({ event_id }) => event_id)
        const stored =
          eventIds.length === 0 ? new Set<string>() : await letters.holdEvents(tx, eventIds)
        const outcomes = new Map<string | number, Outcome>()
        for (const letter of locked) {
          outcomes.set(letter.id, (await requeue(tx, letter, stored)) ?? requeued(letter))
        }
        const replayed: ReturnType<typeof requeued>[] = []
        const failed: { id: string | number; error: string }[] = []
        for (const id of ids) {
          const outcome = outcomes.get(id) ?? { problem: 'not found' }
          if ('problem' in outcome) failed.push({ id, error: outcome.problem })
          else replayed.push(outcome)
        }
        return { replayed, failed, requested: ids.length, note: NOTE }
      })
    },
  }
}

/** Returns undefined for anything but a whole number. */
const readId = (id: string): number | undefined => {
  const number = /^\d{1,16}$/.test(id) ? Number(id) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

const isEnded = ({ status }: { status: letters.DeadLetterRow['status'] }): boolean =>
  status === 'resolved' || status === 'abandoned'

function problemOf(
  letter: letters.DeadLetterRow,
  envelope: ReturnType<typeof readEnvelope>,
  isStored: boolean,
): string | undefined {
  if (isEnded(letter)) return `it is already ${letter.status}`
  if (!isStored && 'problem' in envelope) {
    return `the event is no longer stored and ${envelope.problem}`
  }
  return undefined
}

type Outcome = { problem: string } | ReturnType<typeof requeued>

const requeued = ({ id, event_type, endpoint_url }: letters.DeadLetterRow) => ({
  id,
  event_type,
  endpoint_url,
  status: 'retrying' as const,
})

type ListedLetter = Awaited<ReturnType<typeof letters.list>>['items'][number]

/** A tenant sees that delivery to the global URL failed, but not the text of the receiver. */
const shownTo =
  (caller: Caller) =>
  (letter: ListedLetter): ListedLetter =>
    hidesGlobalUrl(caller, letter)
      ? {
          ...letter,
          endpoint_url: HIDDEN_URL,
          last_error: `Gave up after ${letter.attempt_count} attempts`,
        }
      : letter
