import type { Static, TObject } from 'typebox'
import type { Tx } from '../database/database.ts'
import type { Log } from '../log.ts'
import type { About, Events, EventType } from './events.ts'

const CAPACITY = 50_000

type Entry = (tx: Tx) => Promise<void>

export type Outbox = ReturnType<typeof outbox>

/**
 * Events of work that must not wait for the database. They are stored a moment later, together with
 * the rows they belong to; what cannot be stored stays here for the next time.
 */
export function outbox({ events, log }: { events: Events; log: Log }) {
  let entries: Entry[] = []
  let lost = 0

  return {
    get isEmpty() {
      return entries.length === 0
    },
    add<Data extends TObject>(type: EventType<Data>, about: About, data: Static<Data>): void {
      if (entries.length >= CAPACITY) {
        if (lost++ === 0) log.error('the database is away for too long: events are being lost')
        return
      }
      entries.push((tx) => events.emit(tx, type, about, data))
    },
    /** Stores everything; nothing is forgotten unless the transaction commits. */
    async store(tx: Tx): Promise<() => void> {
      const taken = entries.slice()
      for (const store of taken) await store(tx)
      return () => {
        entries = entries.slice(taken.length)
        lost = 0
      }
    },
  }
}
