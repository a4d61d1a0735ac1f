import ICAL from 'ical.js'
import { parseCalendar, partsOf } from './calendar.ts'
import { type Instance, instancesOf, OutOfBudget } from './instances.ts'

/** An object with more instances in the range is returned as it is stored. */
const MAX_EXPANDED = 1000
const RULES = ['rrule', 'rdate', 'exrule', 'exdate']

/** The instances of an object within a range, each with its own times in UTC (RFC 4791 section 9.6.5). */
export function expandCalendar(text: string, from: number, to: number): string {
  const root = parseCalendar(text)
  const parts = partsOf(root)
  const instances: Instance[] = []
  try {
    for (const instance of instancesOf(parts, from, to)) {
      instances.push(instance)
      if (instances.length > MAX_EXPANDED) return text
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return text
    throw error
  }
  const result = new ICAL.Component('vcalendar')
  for (const property of root.getAllProperties()) result.addProperty(copyOf(property))
  const isSeries = parts.some((part) => RULES.some((name) => part.hasProperty(name)))
  for (const instance of instances) result.addSubcomponent(asOwnEvent(instance, isSeries))
  return `${result.toString()}\r\n`
}

const copyOf = (property: ICAL.Property): ICAL.Property =>
  new ICAL.Property(structuredClone(property.toJSON()) as never)

function asOwnEvent({ part, start, end, id }: Instance, isSeries: boolean): ICAL.Component {
  const copy = new ICAL.Component(structuredClone(part.toJSON()) as never)
  for (const name of RULES) copy.removeAllProperties(name)
  const began = part.getFirstPropertyValue('dtstart')
  const isDate = began instanceof ICAL.Time && began.isDate
  if (part.hasProperty('dtstart')) setTime(copy, 'dtstart', start, isDate)
  if (part.hasProperty('dtend')) setTime(copy, 'dtend', end, isDate)
  if (isSeries && id) setTime(copy, 'recurrence-id', id.toUnixTime(), id.isDate)
  return copy
}

function setTime(part: ICAL.Component, name: string, seconds: number, isDate: boolean): void {
  const time = ICAL.Time.fromJSDate(new Date(seconds * 1000), true)
  time.isDate = isDate
  part.removeAllProperties(name)
  part.addPropertyWithValue(name, time)
}
