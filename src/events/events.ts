import { sql } from 'kysely'
import type { Static, TObject, TProperties } from 'typebox'
import { bulkRows } from '../database/bulk.ts'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

/** A kind of event: its dotted name, who produces it, and the shape of its data. */
export interface EventType<Data extends TObject = TObject> {
  name: string
  source: string
  summary: string
  data: Data
}

const catalogue = new Map<string, EventType>()

/** Declares an event once, next to the feature that emits it. */
export function defineEvent<Properties extends TProperties>(
  name: string,
  declaration: { source: string; summary: string; data: TObject<Properties> },
): EventType<TObject<Properties>> {
  if (catalogue.has(name)) throw new Error(`event ${name} is defined twice`)
  const type = { name, ...declaration }
  catalogue.set(name, type as unknown as EventType)
  return type
}

export const eventCatalogue = (): EventType[] =>
  [...catalogue.values()].sort((one, other) => one.name.localeCompare(other.name))

/** Whom an event concerns, in the words of the envelope. */
export interface About {
  org_id: string | null
  domain?: string | null
}

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

/** `queued`: somebody listens, so what is stored also waits for its delivery. */
export const events = ({ queued }: { queued: boolean }) => ({
  /** Stores the event in the transaction of the change that caused it: both happen, or neither. */
  async emit<Data extends TObject>(
    tx: Tx,
    type: EventType<Data>,
    about: About,
    data: Static<Data>,
  ) {
    if (!catalogue.has(type.name)) throw new Error(`event ${type.name} is not defined`)
    const id = ulid()
    await tx
      .insertInto('events')
      .values({
        id,
        event: type.name,
        source: type.source,
        org_id: about.org_id,
        domain: about.domain ?? null,
        data,
      })
      .execute()
    if (!queued) return
    const lane = laneOf(about, data as Record<string, unknown>)
    await tx.insertInto('webhook_queue').values({ event_id: id, lane }).execute()
  },

  /** The same for very many at once. */
  async emitMany(tx: Tx, occurrences: Occurrence[]): Promise<void> {
    for (const { type } of occurrences) {
      if (!catalogue.has(type.name)) throw new Error(`event ${type.name} is not defined`)
    }
    if (occurrences.length > 0) await storeMany(tx, occurrences, queued)
  },
})

/** Many events that one piece of work caused, in one statement for each table. */
async function storeMany(tx: Tx, occurrences: Occurrence[], queued: boolean): Promise<void> {
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
  if (!queued) return
  const lanes = occurrences.map(({ about, data }, index) => ({
    id: rows[index]?.id ?? '',
    lane: laneOf(about, data),
  }))
  await sql`
    insert into webhook_queue (event_id, lane)
    select * from ${bulkRows({ id: 'text', lane: 'smallint' }, lanes)} as occurrences`.execute(tx)
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
