import { parseCalendar, partsOf } from '../objects/calendar.ts'
import { timeOf } from '../objects/times.ts'
import { addressOf, organizerOf } from './people.ts'

/** A question for the busy times of people; values are as they are written, for the answer. */
export interface Question {
  organizer: string
  uid: string
  from: number
  to: number
  attendees: { address: string | undefined; uri: string }[]
}

/** Reads a VFREEBUSY with METHOD:REQUEST; undefined for anything else. Runs in a worker thread. */
export default (text: string): Question | undefined => {
  try {
    const root = parseCalendar(text)
    const [part] = partsOf(root)
    const method = String(root.getFirstPropertyValue('method') ?? '').toUpperCase()
    if (method !== 'REQUEST' || part?.name !== 'vfreebusy') return undefined
    const organizer = organizerOf(part)
    const [from, to] = [timeOf(part, 'dtstart'), timeOf(part, 'dtend')]
    if (organizer === undefined || from === undefined || to === undefined) return undefined
    const uid = String(part.getFirstPropertyValue('uid') ?? '')
    const attendees = part
      .getAllProperties('attendee')
      .map((one) => ({ address: addressOf(one), uri: String(one.getFirstValue()) }))
    return { organizer, uid, from, to, attendees }
  } catch {
    return undefined
  }
}
