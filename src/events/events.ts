import { sql } from 'kysely'
import type { Static, TObject } from 'typebox'
import { bulkRows } from '../database/bulk.ts'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'
import { type EventType, findEvent } from './catalogue.ts'
import './planned/index.ts'

export { defineEvent, type EventType, eventCatalogue } from './catalogue.ts'

/** The organization and domain that an event concerns, and what its producer adds to the envelope. */
export interface About {
  org_id: string | null
  domain?: string | null
  tags?: string[]
  user_variables?: object
  metadata?: object
  /** Restricts delivery to one endpoint of the organization, whatever events that subscribed to. */
  endpoint_id?: string
}

/** An event before it is stored. */
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

export interface EmittedEvent extends Occurrence {
  id: string
}

/** Called in the transaction of the change, after its events were stored. */
export type EventListener = (tx: Tx, emitted: readonly EmittedEvent[]) => Promise<void>

export type Events = ReturnType<typeof events>

export const events = (listeners: readonly EventListener[]) => ({
  /** Stores an event in the transaction of the change that caused it: both commit, or neither. */
  emit: <Data extends TObject>(
    tx: Tx,
    type: EventType<Data>,
    about: About,
    data: Static<Data>,
  ): Promise<void> => emitMany(listeners, tx, [occurrence(type, about, data)]),

  /** Stores any number of events with one statement. */
  emitMany: (tx: Tx, occurrences: readonly Occurrence[]): Promise<void> =>
    emitMany(listeners, tx, occurrences),
})

async function emitMany(
  listeners: readonly EventListener[],
  tx: Tx,
  occurrences: readonly Occurrence[],
): Promise<void> {
  for (const { type } of occurrences) {
    if (!findEvent(type.name)) throw new Error(`event ${type.name} is not defined`)
  }
  if (occurrences.length === 0) return
  const emitted = occurrences.map((one) => ({ ...one, id: ulid() }))
  await store(tx, emitted)
  for (const listener of listeners) await listener(tx, emitted)
}

/** A row of `events`, without its time. */
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

const COLUMNS = {
  id: 'text',
  event: 'text',
  source: 'text',
  org_id: 'text',
  domain: 'text',
  tags: 'jsonb',
  user_variables: 'jsonb',
  data: 'jsonb',
  metadata: 'jsonb',
} as const

async function store(tx: Tx, emitted: readonly EmittedEvent[]): Promise<void> {
  const rows = emitted.map(
    ({ id, type, about, data }): EventRow => ({
      id,
      event: type.name,
      source: type.source,
      org_id: about.org_id,
      domain: about.domain ?? null,
      tags: about.tags ?? [],
      user_variables: about.user_variables ?? {},
      data,
      metadata: about.metadata ?? {},
    }),
  )
  await sql`
    insert into events (${sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)))})
    select * from ${bulkRows(COLUMNS, rows)} as emitted`.execute(tx)
}
