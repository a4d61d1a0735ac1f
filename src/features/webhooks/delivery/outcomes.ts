import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { bulkRows } from '../../../database/bulk.ts'
import type { Db, Tx } from '../../../database/database.ts'
import type { Log } from '../../../log.ts'
import type { Envelope } from './envelope.ts'
import { type Job, withFreshPlans } from './queue.repository.ts'

const MAX_BATCH = 200
const RETRY_MS = 500

/** The result of an attempt. */
export type Outcome = {
  /** The id of the delivery record. */
  id: string
  job: Job
  organizationId: string | null
  url: string
  /** 0: there was no answer. */
  httpStatus: number
  error: string | null
  at: Date
} & (
  | { status: 'delivered' | 'abandoned' }
  | { status: 'retrying'; retryAt: Date }
  | { status: 'failed'; deadLetter: Envelope }
)

/**
 * Stores outcomes in batches: while one batch is written, the next one gathers. It retries while the
 * database is down, because a lost outcome would repeat the attempt.
 */
export class OutcomeWriter {
  readonly #db: Db
  readonly #log: Log
  #waiting: { outcome: Outcome; stored: () => void }[] = []
  #writing: Promise<void> | undefined
  #isWriting = false
  #isClosing = false

  constructor({ db, log }: { db: Db; log: Log }) {
    this.#db = db
    this.#log = log
  }

  /** Resolves once the outcome is stored. */
  write(outcome: Outcome): Promise<void> {
    return new Promise((stored) => {
      this.#waiting.push({ outcome, stored })
      if (!this.#isWriting) this.#writing = this.#writeAll()
    })
  }

  /** Waits for the outcomes that were handed in. Without a database, their attempts will repeat. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH)
      await this.#store(batch.map(({ outcome }) => outcome))
      for (const { stored } of batch) stored()
    }
    this.#isWriting = false
  }

  async #store(outcomes: Outcome[]): Promise<void> {
    for (;;) {
      try {
        await withFreshPlans(this.#db, (tx) => record(tx, outcomes))
        return
      } catch (error) {
        this.#log.warn({ err: error, outcomes: outcomes.length }, 'webhook outcomes not stored yet')
        if (this.#isClosing) return
        await sleep(RETRY_MS)
      }
    }
  }
}

const COLUMNS = {
  id: 'text',
  queue_id: 'bigint',
  event_id: 'text',
  event_type: 'text',
  endpoint_id: 'text',
  url: 'text',
  organization_id: 'text',
  message_id: 'text',
  status: 'text',
  code: 'integer',
  attempts: 'integer',
  error: 'text',
  at: 'timestamptz',
  retry_at: 'timestamptz',
  dead_letter: 'jsonb',
} as const

const rowOf = (outcome: Outcome) => ({
  id: outcome.id,
  queue_id: outcome.job.id,
  event_id: outcome.job.event.id,
  event_type: outcome.job.event.event,
  endpoint_id: outcome.job.endpointId,
  url: outcome.url,
  organization_id: outcome.organizationId,
  message_id: messageIdOf(outcome.job.event.data),
  status: outcome.status,
  code: outcome.httpStatus,
  attempts: outcome.job.attempts + 1,
  error: outcome.error?.replaceAll('\0', '').slice(0, MAX_ERROR) ?? null,
  at: outcome.at.toISOString(),
  retry_at: outcome.status === 'retrying' ? outcome.retryAt.toISOString() : null,
  dead_letter: outcome.status === 'failed' ? outcome.deadLetter : null,
})

/**
 * Logs each attempt, postpones or deletes its queue entry, and ends the dead letter that it replayed.
 * Storing the same outcomes again
 * changes nothing: the answer to a commit may get lost.
 */
export async function record(tx: Tx, outcomes: readonly Outcome[]): Promise<void> {
  await sql`
    with attempt as materialized (
      select * from ${bulkRows(COLUMNS, outcomes.map(rowOf))} as attempt
    ), logged as (
      insert into webhook_deliveries (id, event_id, event_type, endpoint_id, webhook_url,
        organization_id, message_id, delivery_status, http_status_code, attempts, error_message,
        created_at, delivered_at)
      select id, event_id, event_type, endpoint_id, url, organization_id, message_id, status, code,
        attempts, error, at, case status when 'delivered' then at end
      from attempt
      on conflict (created_at, id) do nothing
      returning id
    ), buried as (
      insert into webhook_dead_letters (event_id, endpoint_id, organization_id, event_type,
        endpoint_url, last_error, attempt_count, payload, last_attempted_at)
      select event_id, endpoint_id, organization_id, event_type, url,
        left('Gave up after ' || attempts || ' attempts: ' || coalesce(error, ''), ${MAX_ERROR}::int),
        attempts, dead_letter, at
      from attempt join logged using (id)
      where dead_letter is not null
    ), replayed as (
      update webhook_dead_letters
      set status = case attempt.status when 'delivered' then 'resolved' else 'abandoned' end,
        resolved_at = case attempt.status when 'delivered' then attempt.at end
      from attempt join logged using (id)
      where webhook_dead_letters.event_id = attempt.event_id
        and webhook_dead_letters.endpoint_id is not distinct from attempt.endpoint_id
        and webhook_dead_letters.status = 'retrying' and attempt.retry_at is null
    ), postponed as (
      update webhook_queue set attempts = attempt.attempts, due_at = attempt.retry_at
      from attempt
      where webhook_queue.id = attempt.queue_id and attempt.retry_at is not null
    )
    delete from webhook_queue using attempt
    where webhook_queue.id = attempt.queue_id and attempt.retry_at is null`.execute(tx)
}

const MAX_ERROR = 2000
// RFC 5322 §2.1.1: a line has at most 998 characters. A longer value would not fit the index.
const MAX_MESSAGE_ID = 998

function messageIdOf(data: object): string | null {
  const { message_id } = data as { message_id?: unknown }
  return typeof message_id === 'string' ? message_id.slice(0, MAX_MESSAGE_ID) : null
}
