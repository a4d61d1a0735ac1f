import ICAL from 'ical.js'
import { isRecurring } from './calendar.ts'
import { endAfter, lengthOf, periodOf, secondsOf, type TimeRange, timeIn } from './times.ts'

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
  const replaced = new Set<number>()
  for (const part of parts) {
    const id = timeIn(part, 'recurrence-id')
    if (id) replaced.add(secondsOf(id, range.zone))
  }
  for (const part of parts) {
    if (isRecurring(part) && !part.hasProperty('recurrence-id')) {
      yield* recurring(part, replaced, range)
      continue
    }
    const [start, end] = periodOf(part, range.zone)
    const id = timeIn(part, 'recurrence-id')
    const instance = { start, end, part, began: timeIn(part, 'dtstart'), id }
    if (overlaps(instance, range)) yield instance
  }
}

function* recurring(
  part: ICAL.Component,
  replaced: ReadonlySet<number>,
  range: TimeRange,
): Generator<Instance> {
  const dtstart = timeIn(part, 'dtstart')
  if (!dtstart) return
  const length = lengthOf(part, range.zone)
  const expansion = new ICAL.RecurExpansion({ component: part, dtstart })
  const clock = performance.now()
  for (let count = 0; ; count++) {
    const isOver = count % 50 === 49 && performance.now() - clock > MAX_MS
    if (count >= MAX_INSTANCES || isOver) throw new OutOfBudget('too many instances')
    const time = expansion.next()
    if (!time) return
    const start = secondsOf(time, range.zone)
    if (start >= range.to) return
    if (replaced.has(start)) continue
    const end = endAfter(time, length, range.zone)
    const instance = { start, end, part, began: time, id: time }
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
