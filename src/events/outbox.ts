import type { Static, TObject } from 'typebox'
import type { Tx } from '../database/database.ts'
import type { Log } from '../log.ts'
import { type About, type Events, type EventType, type Occurrence, occurrence } from './events.ts'

const CAPACITY = 50_000

export type Outbox = ReturnType<typeof outbox>

/**
 * Holds the events of work that must not wait for the database. They are stored a moment later,
 * together with the rows they belong to.
 */
export function outbox({ events, log }: { events: Events; log: Log }) {
  let waiting: Occurrence[] = []
  let lost = 0

  return {
    get isEmpty() {
      return waiting.length === 0
    },
    add<Data extends TObject>(type: EventType<Data>, about: About, data: Static<Data>): void {
      if (waiting.length >= CAPACITY) {
        if (lost++ === 0) log.error('event outbox full, dropping events until the database is back')
        return
      }
      waiting.push(occurrence(type, about, data))
    },
    /** Stores everything; call the result after the commit to remove the events from memory. */
    async store(tx: Tx): Promise<() => void> {
      const stored = waiting.slice()
      await events.emitMany(tx, stored)
      return () => {
        waiting = waiting.slice(stored.length)
        lost = 0
      }
    },
  }
}
