import type { Static, TObject } from 'typebox'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'
import { type EventType, findEvent } from './catalogue.ts'
import { type About, enqueue, type Listeners } from './enqueue.ts'
import './planned/index.ts'

export { defineEvent, type EventType, eventCatalogue } from './catalogue.ts'
export type { About } from './enqueue.ts'

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
    await tx
      .insertInto('events')
      .values({
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
