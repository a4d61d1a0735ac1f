import ICAL from 'ical.js'
import { isForLater, isRecurring } from './calendar.ts'
import {
  endAfter,
  FAR,
  type Length,
  lengthOf,
  periodOf,
  secondsOf,
  type TimeRange,
  timeIn,
} from './times.ts'

/** The budget of one object. Beyond it an object counts as a match, and the program decides. */
const MAX_INSTANCES = 20_000
const MAX_MS = 50

export interface Instance {
  start: number
  end: number
  /** The component with the properties of this instance. */
  part: ICAL.Component
  /** The start as the object writes it. */
  began: ICAL.Time | undefined
  /** The time by which an exception would name this instance. */
  id: ICAL.Time | undefined
}

/** The work for the object exceeded its budget. */
export class OutOfBudget extends Error {}

/** The instances that overlap a time range (RFC 4791 section 9.9), in no particular order. */
export function* instancesOf(
  parts: readonly ICAL.Component[],
  range: TimeRange,
): Generator<Instance> {
  const exceptions = exceptionsIn(parts, range)
  for (const part of parts) {
    if (isRecurring(part) && !part.hasProperty('recurrence-id')) {
      yield* recurring(part, exceptions, range)
      continue
    }
    const [start, end] = periodOf(part, range.zone)
    const id = timeIn(part, 'recurrence-id')
    const instance = { start, end, part, began: timeIn(part, 'dtstart'), id }
    if (overlaps(instance, range)) yield instance
  }
}

/** The form of the instances of a series, from one of them on. */
interface Form {
  part: ICAL.Component
  length: Length
  /** Seconds since 1970 of the first instance that has this form. */
  from: number
  /** The first start of this form, and the start that the rule gives to the same instance. */
  start: ICAL.Time
  rule: ICAL.Time
}

interface Exceptions {
  /** The instances that have a component of their own. */
  replaced: Set<number>
  /** The exceptions that also count for all later instances (RFC 5545 section 3.2.13). */
  later: Form[]
}

function exceptionsIn(parts: readonly ICAL.Component[], { zone }: TimeRange): Exceptions {
  const found: Exceptions = { replaced: new Set(), later: [] }
  for (const part of parts) {
    const rule = timeIn(part, 'recurrence-id')
    if (!rule) continue
    const from = secondsOf(rule, zone)
    found.replaced.add(from)
    const start = timeIn(part, 'dtstart')
    if (start && isForLater(part)) {
      found.later.push({ part, length: lengthOf(part, zone), from, start, rule })
    }
  }
  found.later.sort((one, other) => one.from - other.from)
  return found
}

/** The start of an instance in a form, from the start that the rule gives. */
function startIn({ start, rule }: Form, time: ICAL.Time): ICAL.Time {
  if (start === rule) return time
  const moved = time.convertToZone(start.zone)
  moved.addDuration(start.subtractDate(rule.convertToZone(start.zone)))
  moved.isDate = start.isDate
  return moved
}

function* recurring(
  part: ICAL.Component,
  { replaced, later }: Exceptions,
  range: TimeRange,
): Generator<Instance> {
  const { zone } = range
  const dtstart = timeIn(part, 'dtstart')
  if (!dtstart) return
  const length = lengthOf(part, zone)
  const first = { part, length, from: -FAR, start: dtstart, rule: dtstart }
  // A later form may begin earlier than the rule says, by an hour more after a change of the clock.
  const earlier = Math.max(0, ...later.map((one) => one.from - secondsOf(one.start, zone) + 3600))
  const expansion = new ICAL.RecurExpansion({ component: part, dtstart })
  const clock = performance.now()
  for (let count = 0; ; count++) {
    const isOver = count % 50 === 49 && performance.now() - clock > MAX_MS
    if (count >= MAX_INSTANCES || isOver) throw new OutOfBudget('too many instances')
    const time = expansion.next()
    if (!time) return
    const at = secondsOf(time, zone)
    if (at - earlier >= range.to) return
    if (replaced.has(at)) continue
    const form = later.findLast(({ from }) => from <= at) ?? first
    const began = startIn(form, time)
    const start = secondsOf(began, zone)
    const end = endAfter(began, form.length, zone)
    const instance = { start, end, part: form.part, began, id: time }
    if (overlaps(instance, range)) yield instance
  }
}

function overlaps(instance: Instance, range: TimeRange): boolean {
  const { name } = instance.part
  if (name === 'vtodo') return taskOverlaps(instance, range)
  return (name !== 'vjournal' || instance.began !== undefined) && touches(instance, range)
}

/** The table for tasks. Those without times have the period that `periodOf` gives them. */
function taskOverlaps({ start, end, part }: Instance, { from, to }: TimeRange): boolean {
  const has = (name: string) => part.hasProperty(name)
  const reaches = to > start || to >= end
  if (has('dtstart') && has('due')) return (from < end || from <= start) && reaches
  if (has('dtstart')) return has('duration') ? from <= end && reaches : from <= start && to > start
  if (has('due')) return from < end && to >= end
  return has('completed') ? from <= end && to >= start : to > start
}

/** An instance without a length counts at its start. */
export const touches = (
  { start, end }: { start: number; end: number },
  { from, to }: TimeRange,
): boolean => (start === end ? start >= from && start < to : start < to && end > from)
