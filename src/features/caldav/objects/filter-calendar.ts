import ICAL from 'ical.js'
import { childOf, childrenOf, type Element, textOf } from '../../../lib/xml.ts'
import { CALDAV } from '../xml/names.ts'
import { parseCalendar, partsOf } from './calendar.ts'
import { instancesOf, OutOfBudget, touches } from './instances.ts'
import { rangeIn } from './time-range.ts'
import { FAR, periodOf, secondsOf, type TimeRange, timeOf, type Zone } from './times.ts'

/** Returns whether an object matches the filter of a calendar-query (RFC 4791 section 9.7). */
export function matchesCalendar(text: string, filter: Element, zone?: Zone): boolean {
  const root = parseCalendar(text)
  const top = childOf(filter, CALDAV, 'comp-filter')
  if (!top) return true
  if (top.attributes.name?.toUpperCase() !== 'VCALENDAR') return false
  try {
    return componentMatches(root, top, { root, zone })
  } catch (error) {
    if (error instanceof OutOfBudget) return true
    throw error
  }
}

interface Calendar {
  root: ICAL.Component
  zone: Zone
}

const isUndefined = (filter: Element) => childOf(filter, CALDAV, 'is-not-defined') !== undefined

const timeRange = (element: Element, zone: Zone): TimeRange => {
  const { from = -FAR, to = FAR } = rangeIn(element)
  return { from, to, zone }
}

function componentMatches(component: ICAL.Component, filter: Element, calendar: Calendar): boolean {
  const { root, zone } = calendar
  const range = childOf(filter, CALDAV, 'time-range')
  if (range && !inRange(component, root, timeRange(range, zone))) return false
  return (
    childrenOf(filter, CALDAV, 'prop-filter').every((one) =>
      propertyMatches(component, one, zone),
    ) &&
    childrenOf(filter, CALDAV, 'comp-filter').every((one) => {
      const children = component.getAllSubcomponents(one.attributes.name?.toLowerCase() ?? '')
      if (isUndefined(one)) return children.length === 0
      return children.some((child) => componentMatches(child, one, calendar))
    })
  )
}

function inRange(component: ICAL.Component, root: ICAL.Component, range: TimeRange): boolean {
  if (component.name === 'valarm') return alarmInRange(component, range)
  if (component.name === 'vcalendar') return true
  const parts = partsOf(root).filter(({ name }) => name === component.name)
  // The conditions of a filter hold for the same component.
  for (const { part } of instancesOf(parts, range)) if (part === component) return true
  return false
}

/** Alarms of the instances of their event; a relative one moves with them. */
function alarmInRange(alarm: ICAL.Component, { from, to, zone }: TimeRange): boolean {
  const { times, seconds } = repeatsOf(alarm)
  /** Returns whether the alarm or one of its repetitions is in the range. */
  const rings = (at: number) => {
    const skipped = at >= from ? 0 : Math.min(times, Math.ceil((from - at) / seconds))
    const time = at + skipped * seconds
    return time >= from && time < to
  }
  const absolute = timeOf(alarm, 'trigger', zone)
  if (absolute !== undefined) return rings(absolute)
  const trigger = alarm.getFirstProperty('trigger')
  const value = trigger?.getFirstValue() as { toSeconds?: () => number } | undefined
  const offset = value?.toSeconds?.()
  const event = alarm.parent
  if (offset === undefined || !event?.parent) return false
  const fromEnd = String(trigger?.getParameter('related') ?? '').toUpperCase() === 'END'
  const [start, end] = periodOf(event, zone)
  const margin = Math.abs(offset) + (end - start) + times * seconds
  const parts = partsOf(event.parent).filter(({ name }) => name === event.name)
  for (const instance of instancesOf(parts, { from: from - margin, to: to + margin, zone })) {
    const isOfEvent = instance.part === event
    if (isOfEvent && rings((fromEnd ? instance.end : instance.start) + offset)) return true
  }
  return false
}

/** The repetitions of an alarm, and the time between them. */
function repeatsOf(alarm: ICAL.Component): { times: number; seconds: number } {
  const times = Number(alarm.getFirstPropertyValue('repeat') ?? 0)
  const duration = alarm.getFirstPropertyValue('duration') as { toSeconds?: () => number } | null
  const seconds = duration?.toSeconds?.() ?? 0
  return times > 0 && seconds > 0 ? { times, seconds } : { times: 0, seconds: 1 }
}

function propertyMatches(component: ICAL.Component, filter: Element, zone: Zone): boolean {
  const properties = component.getAllProperties(filter.attributes.name?.toLowerCase() ?? '')
  if (isUndefined(filter)) return properties.length === 0
  if (properties.length === 0) return false
  const match = childOf(filter, CALDAV, 'text-match')
  const range = childOf(filter, CALDAV, 'time-range')
  if (match && !properties.some((one) => textMatches(writtenValue(one), match))) return false
  if (range && !properties.some((one) => valueInRange(one, timeRange(range, zone)))) return false
  return childrenOf(filter, CALDAV, 'param-filter').every((one) =>
    parameterMatches(properties, one),
  )
}

function parameterMatches(properties: readonly ICAL.Property[], filter: Element): boolean {
  const name = filter.attributes.name?.toLowerCase() ?? ''
  const values = properties
    .map((one) => one.getParameter(name))
    .filter((value) => value !== undefined)
  if (isUndefined(filter)) return values.length === 0
  const match = childOf(filter, CALDAV, 'text-match')
  return values.some((value) => !match || textMatches(String(value), match))
}

function valueInRange(property: ICAL.Property, range: TimeRange): boolean {
  const value = property.getFirstValue()
  if (!(value instanceof ICAL.Time)) return false
  const time = secondsOf(value, range.zone)
  return touches({ start: time, end: time }, range)
}

/** The value as it is written, without name, parameters and folding. */
function writtenValue(property: ICAL.Property): string {
  const values = property.getValues() as unknown[]
  return values.map(String).join(',')
}

/** `i;octet` compares case; the other collations do not. */
export function textMatches(text: string, match: Element): boolean {
  const isExact = match.attributes.collation === 'i;octet'
  const fold = (value: string) => (isExact ? value : value.toLowerCase())
  const found = fold(text).includes(fold(textOf(match)))
  return match.attributes['negate-condition'] === 'yes' ? !found : found
}
