import { readCalendar } from '../objects/calendar.ts'
import type { ObjectFacts } from '../objects/read-object.task.ts'
import { applied, Ignored, type Received } from './apply.ts'

export type Applied = { data: string; facts: ObjectFacts } | { ignored: string }

/** The object after a message about it. Strangers write these messages: runs in a worker thread. */
export default (received: Received): Applied => {
  try {
    const data = applied(received)
    return { data, facts: readCalendar(data) }
  } catch (error) {
    // The library throws plain errors for values that it cannot read.
    return { ignored: error instanceof Ignored ? error.message : 'unreadable' }
  }
}
