import type { Static, TObject, TProperties } from 'typebox'
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

export type Events = ReturnType<typeof events>

export const events = () => ({
  /** Stores the event in the transaction of the change that caused it: both happen, or neither. */
  async emit<Data extends TObject>(
    tx: Tx,
    type: EventType<Data>,
    about: About,
    data: Static<Data>,
  ) {
    if (!catalogue.has(type.name)) throw new Error(`event ${type.name} is not defined`)
    await tx
      .insertInto('events')
      .values({
        id: ulid(),
        event: type.name,
        source: type.source,
        org_id: about.org_id,
        domain: about.domain ?? null,
        data,
      })
      .execute()
  },
})
