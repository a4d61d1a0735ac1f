import { parseCalendar, readCalendar } from '../objects/calendar.ts'
import { addressOf, attendeesOf, scheduledParts } from './people.ts'

interface Input {
  text: string
  recipient: string
  /** The recipient is the organizer. */
  isReply: boolean
}

/** RFC 6638 section 3.2.9: the message could not be delivered. */
const FAILED = '5.1'

/** The object with the mark at the recipient; undefined when the recipient is not in it. */
export default ({ text, recipient, isReply }: Input) => {
  const root = parseCalendar(text)
  let isMarked = false
  for (const part of scheduledParts(root)) {
    const people = isReply ? part.getAllProperties('organizer') : attendeesOf(part)
    for (const person of people.filter((one) => addressOf(one) === recipient)) {
      person.setParameter('schedule-status', FAILED)
      isMarked = true
    }
  }
  if (!isMarked) return undefined
  const data = `${root.toString()}\r\n`
  return { data, facts: readCalendar(data) }
}
