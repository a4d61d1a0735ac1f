import { sql } from 'kysely'
import type { Static, TObject } from 'typebox'
import { bulkRows } from '../database/bulk.ts'
import type { Tx } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import { ulid } from '../lib/ulid.ts'
import { type EventType, findEvent } from './catalogue.ts'
import { type About, enqueue, enqueueMany, type Listeners } from './enqueue.ts'
import './planned/index.ts'

export { defineEvent, type EventType, eventCatalogue } from './catalogue.ts'
export type { About } from './enqueue.ts'

/** An event, whom it concerns and what it says. */
export interface Occurrence {
  type: { name: string; source: string }
  about: About
  data: Record<string, unknown>
}

export const occurrence = <Data extends TObject>(
  type: EventType<Data>,
  about: About,
  data: Static<Data>,
): Occurrence => ({ type, about, data: data as Record<string, unknown> })

export type Events = ReturnType<typeof events>

export const events = (listeners: Listeners) => ({
  /** Stores the event in the transaction of the change that caused it: both happen, or neither. */
  async emit<Data extends TObject>(
    tx: Tx,
    type: EventType<Data>,
    about: About,
    data: Static<Data>,
  ) {
    if (!findEvent(type.name)) throw new Error(`event ${type.name} is not defined`)
    const id = ulid()
    await store(tx, {
      id,
      event: type.name,
      source: type.source,
      org_id: about.org_id,
      domain: about.domain ?? null,
      tags: about.tags ?? [],
      user_variables: about.user_variables ?? {},
      data,
      metadata: about.metadata ?? {},
    })
    const lane = laneOf(about, data as Record<string, unknown>)
    await enqueue(tx, { id, lane, name: type.name, about }, listeners)
  },

  /** The same for very many at once. */
  async emitMany(tx: Tx, occurrences: Occurrence[]): Promise<void> {
    for (const { type } of occurrences) {
      if (!findEvent(type.name)) throw new Error(`event ${type.name} is not defined`)
    }
    if (occurrences.length > 0) await storeMany(tx, occurrences, listeners)
  },
})

/** As it is stored, but for the time. */
export type EventRow = {
  id: string
  event: string
  source: string
  org_id: string | null
  domain: string | null
  tags: object
  user_variables: object
  data: object
  metadata: object
}

const store = prepared(
  (db, { id, event, source, org_id, domain, tags, user_variables, data, metadata }: EventRow) =>
    db
      .insertInto('events')
      .values({ id, event, source, org_id, domain, tags, user_variables, data, metadata }),
)

/** Many events that one piece of work caused, in one statement for each table. */
async function storeMany(tx: Tx, occurrences: Occurrence[], listeners: Listeners): Promise<void> {
  const rows = occurrences.map(({ type, about, data }) => ({
    id: ulid(),
    event: type.name,
    source: type.source,
    org_id: about.org_id,
    domain: about.domain ?? null,
    data,
  }))
  await sql`
    insert into events (id, event, source, org_id, domain, data)
    select * from ${bulkRows(COLUMNS, rows)} as occurrences`.execute(tx)
  const stored = occurrences.map(({ type, about, data }, index) => ({
    id: rows[index]?.id ?? '',
    lane: laneOf(about, data),
    name: type.name,
    about,
  }))
  await enqueueMany(tx, stored, listeners)
}

const COLUMNS = {
  id: 'text',
  event: 'text',
  source: 'text',
  org_id: 'text',
  domain: 'text',
  data: 'jsonb',
} as const

export const LANES = 64

/** Events about one thing share a lane, which keeps them in order; different things may overtake. */
export function laneOf(about: About, data: Record<string, unknown>): number {
  const [subject] = Object.values(data)
  const text = `${about.org_id} ${typeof subject === 'string' ? subject : ''}`
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % LANES
}
