import type { Static, TObject, TProperties } from 'typebox'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'
import { type About, enqueue, type Listeners } from './enqueue.ts'

export type { About } from './enqueue.ts'

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

export type Events = ReturnType<typeof events>

export const events = (listeners: Listeners) => ({
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
    const lane = laneOf(about, data as Record<string, unknown>)
    await enqueue(tx, { id, lane, name: type.name, about }, listeners)
  },
})

export const LANES = 64

/** Events about one thing share a lane, which keeps them in order; different things may overtake. */
export function laneOf(about: About, data: Record<string, unknown>): number {
  const [subject] = Object.values(data)
  const text = `${about.org_id} ${typeof subject === 'string' ? subject : ''}`
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % LANES
}
