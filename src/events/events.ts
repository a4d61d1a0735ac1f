import type { Static, TObject } from 'typebox'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'
import { type EventType, findEvent } from './catalogue.ts'
import './planned/index.ts'

export { defineEvent, type EventType, eventCatalogue } from './catalogue.ts'

/** Whom an event concerns, in the words of the envelope, and what its producer adds to it. */
export interface About {
  org_id: string | null
  domain?: string | null
  tags?: string[]
  user_variables?: object
  metadata?: object
}

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
    if (!queued) return
    const lane = laneOf(about, data as Record<string, unknown>)
    await tx.insertInto('webhook_queue').values({ event_id: id, lane }).execute()
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
