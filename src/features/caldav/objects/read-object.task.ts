import type { Kind } from '../protocol/places.ts'
import { readCalendar, UnusableObject } from './calendar.ts'
import { readCard, UnusableCard } from './card.ts'

export interface ObjectFacts {
  uid: string
  component: string | null
  first_at: number | null
  last_at: number | null
}

/** The element of the condition that the object breaks, with its prefix, and why. */
export interface RefusedObject {
  condition: string
  message: string
}

/** Reads an object that a client wants to store. Objects have up to 5 MB: runs in a worker thread. */
export default ({ kind, text }: { kind: Kind; text: string }): ObjectFacts | RefusedObject => {
  try {
    return kind === 'calendar'
      ? readCalendar(text)
      : { uid: readCard(text), component: null, first_at: null, last_at: null }
  } catch (error) {
    if (error instanceof UnusableObject) {
      return { condition: `C:${error.condition}`, message: error.message }
    }
    if (error instanceof UnusableCard) {
      return { condition: `A:${error.condition}`, message: error.message }
    }
    if (kind === 'addressbook') throw error
    // The library throws plain errors for values that it cannot read, such as a broken RRULE.
    return { condition: 'C:valid-calendar-data', message: (error as Error).message }
  }
}
