import ICAL from 'ical.js'
import { partsOf } from './calendar.ts'
import { type Instance, instancesOf, OutOfBudget } from './instances.ts'
import { endAfter, isFloating, lengthOf, secondsOf, type TimeRange } from './times.ts'

/** An object with more instances in the range keeps its rule. */
const MAX_EXPANDED = 1000
const RULES = ['rrule', 'rdate', 'exrule', 'exdate']

/**
 * The instances of an object within a range, each with its own times (RFC 4791 section 9.6.5): in
 * UTC, unless they have no zone.
 */
export function expand(root: ICAL.Component, range: TimeRange): ICAL.Component {
  const parts = partsOf(root)
  const instances: Instance[] = []
  try {
    for (const instance of instancesOf(parts, range)) {
      instances.push(instance)
      if (instances.length > MAX_EXPANDED) return root
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return root
    throw error
  }
  const result = new ICAL.Component('vcalendar')
  for (const property of root.getAllProperties()) result.addProperty(copyOf(property))
  const isSeries = parts.some((part) => RULES.some((name) => part.hasProperty(name)))
  for (const instance of instances) result.addSubcomponent(asOwnEvent(instance, isSeries))
  return result
}

const copyOf = (property: ICAL.Property): ICAL.Property =>
  new ICAL.Property(structuredClone(property.toJSON()) as never)

function asOwnEvent({ part, began, id }: Instance, isSeries: boolean): ICAL.Component {
  const copy = new ICAL.Component(structuredClone(part.toJSON()) as never)
  for (const name of RULES) copy.removeAllProperties(name)
  if (began) {
    setTime(copy, 'dtstart', secondsOf(began), began)
    for (const name of ['dtend', 'due']) {
      if (part.hasProperty(name)) setTime(copy, name, endAfter(began, lengthOf(part)), began)
    }
  }
  if (isSeries && id) setTime(copy, 'recurrence-id', secondsOf(id), id)
  return copy
}

/** Sets a time of the same kind as another: a date, a time without a zone, or a time in UTC. */
function setTime(part: ICAL.Component, name: string, seconds: number, like: ICAL.Time): void {
  const time = ICAL.Time.fromJSDate(new Date(seconds * 1000), true)
  time.isDate = like.isDate
  if (isFloating(like)) time.zone = ICAL.Timezone.localTimezone
  part.removeAllProperties(name)
  part.addPropertyWithValue(name, time)
}
