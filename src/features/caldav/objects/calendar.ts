import ICAL from 'ical.js'
import { FAR, periodOf, timeOf } from './times.ts'

// Unknown and odd properties are stored as they are; only the structure has to be right.
ICAL.design.strict = false

export type Condition =
  | 'valid-calendar-data'
  | 'valid-calendar-object-resource'
  | 'supported-calendar-data'

/** The reason for refusing a calendar object, as the name of a precondition of RFC 4791. */
export class UnusableObject extends Error {
  readonly condition: Condition
  constructor(condition: Condition, message: string) {
    super(message)
    this.condition = condition
  }
}

export function parseCalendar(text: string): ICAL.Component {
  let root: ICAL.Component
  try {
    root = new ICAL.Component(ICAL.parse(text.replace(/^\ufeff/, '')) as never)
  } catch (error) {
    throw new UnusableObject('valid-calendar-data', (error as Error).message)
  }
  if (root.name !== 'vcalendar') {
    throw new UnusableObject('valid-calendar-data', 'The object is not a VCALENDAR')
  }
  return root
}

export const partsOf = (root: ICAL.Component): ICAL.Component[] =>
  root.getAllSubcomponents().filter(({ name }) => name !== 'vtimezone')

export interface CalendarFacts {
  uid: string
  component: string
  first_at: number
  last_at: number
}

/** Reads the facts that are stored beside a calendar object: its UID, its component and its time. */
export function readCalendar(text: string): CalendarFacts {
  const root = parseCalendar(text)
  const refuse = (message: string) => {
    throw new UnusableObject('valid-calendar-object-resource', message)
  }
  if (root.hasProperty('method')) refuse('A stored object has no METHOD')
  const parts = partsOf(root)
  const names = new Set(parts.map(({ name }) => name))
  const uids = new Set(parts.map((part) => part.getFirstPropertyValue('uid')))
  const [name] = names
  const [uid] = uids
  if (name === undefined || names.size > 1) refuse('An object has one kind of component')
  if (typeof uid !== 'string' || uid === '' || uids.size > 1) {
    refuse('All components of an object have the same UID')
  }
  if (Buffer.byteLength(String(uid)) > 1024) refuse('A UID has at most 1024 bytes')
  if (parts.filter((part) => !part.hasProperty('recurrence-id')).length > 1) {
    refuse('An object has one component without RECURRENCE-ID')
  }
  for (const part of parts) {
    if (part.name === 'vevent' && timeOf(part, 'dtstart') === undefined) {
      throw new UnusableObject('valid-calendar-data', 'A VEVENT has a DTSTART')
    }
    refuseEndless(part)
  }
  return { uid: String(uid), component: String(name).toUpperCase(), ...spanOf(parts) }
}

/** Rules that happen every minute without an end would take the time of every later query. */
function refuseEndless(part: ICAL.Component): void {
  for (const rule of part.getAllProperties('rrule')) {
    const recur = rule.getFirstValue() as ICAL.Recur | null
    if (!recur || !['SECONDLY', 'MINUTELY'].includes(recur.freq)) continue
    if (!recur.count && !recur.until) {
      throw new UnusableObject(
        'supported-calendar-data',
        `RRULE with FREQ=${recur.freq} needs COUNT or UNTIL`,
      )
    }
  }
}

export const isRecurring = (part: ICAL.Component): boolean =>
  part.hasProperty('rrule') || part.hasProperty('rdate')

/** An exception for an instance and all later ones (RFC 5545 section 3.2.13). */
export const isForLater = (part: ICAL.Component): boolean =>
  String(part.getFirstProperty('recurrence-id')?.getParameter('range')).toUpperCase() ===
  'THISANDFUTURE'

/** Bounds of all instances. They may be wider than the instances, never narrower. */
function spanOf(parts: readonly ICAL.Component[]): { first_at: number; last_at: number } {
  let first = FAR
  let last = -FAR
  for (const part of parts) {
    const [start, end] = periodOf(part)
    first = Math.min(first, start)
    last = Math.max(last, end)
    // Later instances may be moved beyond the end of the rule.
    if (isForLater(part)) last = FAR
    if (!isRecurring(part)) continue
    // RDATE may lie before DTSTART.
    if (part.hasProperty('rdate')) first = -FAR
    last = Math.max(last, lastOf(part, end - start))
  }
  return { first_at: Math.max(first, -FAR), last_at: Math.min(last, FAR) }
}

function lastOf(part: ICAL.Component, length: number): number {
  const rules = part.getAllProperties('rrule').map((rule) => rule.getFirstValue() as ICAL.Recur)
  if (part.hasProperty('rdate')) return FAR
  const ends = rules.map(({ until }) => (until ? until.toUnixTime() + length + 86_400 : FAR))
  return Math.max(...ends)
}
