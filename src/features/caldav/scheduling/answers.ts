import { parseCalendar } from '../objects/calendar.ts'
import {
  addressOf,
  attendeeIn,
  attendeesOf,
  instanceOf,
  organizerOfAll,
  scheduledParts,
  statusOf,
} from './people.ts'
import type { Change } from './plan.ts'

/** The answer of an attendee and the time at which it was given. */
const PARAMETERS = ['partstat', 'x-replied-at', 'schedule-status']

/**
 * RFC 6638 section 3.2.10: the version of the organizer with the answers that have come since the
 * client read the object. Undefined when there are none.
 */
export function withAnswers({
  before,
  after,
  organizers,
}: Pick<Change, 'before' | 'after' | 'organizers'>): string | undefined {
  if (before === null || after === null) return undefined
  const root = parseCalendar(after)
  const organizer = organizerOfAll(scheduledParts(root))
  if (organizer === undefined || !organizers.includes(organizer)) return undefined
  const known = new Map(
    scheduledParts(parseCalendar(before)).map((part) => [instanceOf(part), part]),
  )
  let isChanged = false
  for (const part of scheduledParts(root)) {
    const old = known.get(instanceOf(part))
    for (const attendee of old ? attendeesOf(part) : []) {
      const address = addressOf(attendee)
      const earlier = old && address !== undefined ? attendeeIn(old, address) : undefined
      if (!earlier || address === organizer || statusOf(earlier) === statusOf(attendee)) continue
      for (const name of PARAMETERS) {
        const value = earlier.getParameter(name)
        if (value === undefined) attendee.removeParameter(name)
        else attendee.setParameter(name, value)
      }
      isChanged = true
    }
  }
  return isChanged ? `${root.toString()}\r\n` : undefined
}
