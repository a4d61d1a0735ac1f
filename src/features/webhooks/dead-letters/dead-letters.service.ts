import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { narrowed } from '../../../database/scope.ts'
import { Unprocessable } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { DEAD_LETTER_STATUSES, readStatus } from '../webhook-statuses.ts'
import { CannotReplay, DeadLetterNotFound } from './dead-letters.errors.ts'
import * as letters from './dead-letters.repository.ts'
import { readEnvelope } from './envelope.ts'

const MAX_BULK = 100
const NOTE =
  'The original envelope goes out again under its original id; the delivery log tells what becomes of it, and another failure is a new dead letter'

interface Query {
  status?: string
  event_type?: string
  endpoint_id?: string
  organization_id?: string
}

interface Needs extends Pick<Core, 'change' | 'db' | 'now'> {
  /** Where all events go; without it there is nowhere to replay to. */
  globalUrl: string | undefined
  /** Whether anything is sent to endpoints at all. */
  fansOut: boolean
}

export type DeadLetterService = ReturnType<typeof deadLetterService>

export function deadLetterService({ change, db, fansOut, globalUrl, now }: Needs) {
  /** Why a letter has nowhere to go. */
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

  /** Puts the event of a locked letter back into the queue, or says why not. */
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
    await letters.enqueue(tx, letter.event_id, letter.endpoint_id)
    await letters.markRetrying(tx, letter.id, now())
    return undefined
  }

  return {
    async list(caller: Caller, query: Query, page: Page) {
      const { status, organization_id, ...exact } = query
      const wanted = readStatus(status, DEAD_LETTER_STATUSES)
      const scope = narrowed(caller.scope, organization_id)
      const filter = { ...exact, ...(wanted && { status: wanted }) }
      const { items, total } = await letters.list(db, scope, filter, page)
      return paginated(items, total, page)
    },

    async get(id: string) {
      const number = readId(id)
      const letter = number === undefined ? undefined : await letters.find(db, number)
      if (!letter) throw new DeadLetterNotFound()
      const { event_id, payload, ...shown } = letter
      const envelope = readEnvelope(payload)
      const stored = await letters.isStored(db, event_id)
      return {
        ...shown,
        payload: typeof payload === 'object' ? payload : null,
        // Whether there is a global URL is the installation's matter, not the letter's.
        replayable:
          problemOf(letter, envelope, stored) === undefined &&
          (letter.endpoint_id === null || (await problemOfTarget(db, letter)) === undefined),
        ...('problem' in envelope && { payload_error: envelope.problem }),
      }
    },

    async replay(caller: Caller, id: string) {
      const number = readId(id)
      if (number === undefined) throw new DeadLetterNotFound()
      return change(caller, async (tx) => {
        const [letter] = await letters.lock(tx, [number])
        if (!letter) throw new DeadLetterNotFound()
        const refused = await requeue(tx, letter, await letters.holdEvents(tx, [letter.event_id]))
        if (refused) throw new CannotReplay(refused.problem)
        return { ...requeued(letter), note: NOTE }
      })
    },

    /** Those that can be are replayed, together; the others are named with what is wrong. */
    async replayMany(caller: Caller, sent: readonly (string | number)[]) {
      if (sent.length > MAX_BULK) {
        throw new Unprocessable(
          `At most ${MAX_BULK} dead_letter_ids per call (${sent.length} supplied)`,
        )
      }
      const ids = [...new Set(sent.map((id) => readId(String(id)) ?? id))]
      const numbers = ids.filter((id) => typeof id === 'number')
      return change(caller, async (tx) => {
        const found = numbers.length === 0 ? [] : await letters.lock(tx, numbers)
        // In the order they happened, as they went out the first time.
        found.sort((one, other) => (one.event_id < other.event_id ? -1 : 1))
        const eventIds = found.map(({ event_id }) => event_id)
        const stored =
          eventIds.length === 0 ? new Set<string>() : await letters.holdEvents(tx, eventIds)
        const outcomes = new Map<string | number, Outcome>()
        for (const letter of found) {
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

/** Ids are whole numbers; anything else is the id of nothing. */
const readId = (id: string): number | undefined => {
  const number = /^\d{1,16}$/.test(id) ? Number(id) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

function problemOf(
  { status }: letters.DeadLetterRow,
  envelope: ReturnType<typeof readEnvelope>,
  isStored: boolean,
): string | undefined {
  if (status === 'resolved' || status === 'abandoned') return `it is already ${status}`
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
