import ICAL from 'ical.js'
import { isRecurring, periodOf } from './calendar.ts'

/** The budget of one object. Beyond it an object counts as a match, and the program decides. */
const MAX_INSTANCES = 20_000
const MAX_MS = 50

export interface Instance {
  start: number
  end: number
  /** The component with the properties of this instance. */
  part: ICAL.Component
  /** The time by which an exception would name this instance. */
  id: ICAL.Time | undefined
}

/** The work for the object exceeded its budget. */
export class OutOfBudget extends Error {}

const startOf = (part: ICAL.Component): ICAL.Time | undefined => {
  const value = part.getFirstPropertyValue('dtstart')
  return value instanceof ICAL.Time ? value : undefined
}

/** The instances that overlap a time range (RFC 4791 section 9.9), in no particular order. */
export function* instancesOf(
  parts: readonly ICAL.Component[],
  from: number,
  to: number,
): Generator<Instance> {
  const exceptions = parts.filter((part) => part.hasProperty('recurrence-id'))
  for (const part of exceptions) {
    const [start, end] = periodOf(part)
    const id = part.getFirstPropertyValue('recurrence-id')
    const instance = { start, end, part, id: id instanceof ICAL.Time ? id : undefined }
    if (overlaps(instance, from, to)) yield instance
  }
  const replaced = new Set(
    exceptions.map((part) => {
      const id = part.getFirstPropertyValue('recurrence-id')
      return id instanceof ICAL.Time ? id.toUnixTime() : undefined
    }),
  )
  for (const part of parts) {
    if (part.hasProperty('recurrence-id')) continue
    const [start, end] = periodOf(part)
    if (!isRecurring(part)) {
      const instance = { start, end, part, id: undefined }
      if (overlaps(instance, from, to)) yield instance
      continue
    }
    yield* recurring(part, end - start, replaced, from, to)
  }
}

function* recurring(
  part: ICAL.Component,
  length: number,
  replaced: ReadonlySet<number | undefined>,
  from: number,
  to: number,
): Generator<Instance> {
  const dtstart = startOf(part)
  if (!dtstart) return
  const expansion = new ICAL.RecurExpansion({ component: part, dtstart })
  const began = performance.now()
  for (let count = 0; ; count++) {
    const isOver = count % 50 === 49 && performance.now() - began > MAX_MS
    if (count >= MAX_INSTANCES || isOver) throw new OutOfBudget('too many instances')
    const time = expansion.next()
    if (!time) return
    const start = time.toUnixTime()
    if (start >= to) return
    if (replaced.has(start)) continue
    const instance = { start, end: start + length, part, id: time.clone() }
    if (overlaps(instance, from, to)) yield instance
  }
}

function overlaps(instance: Instance, from: number, to: number): boolean {
  const { name } = instance.part
  if (name === 'vtodo') return taskOverlaps(instance, from, to)
  return (
    (name !== 'vjournal' || startOf(instance.part) !== undefined) && touches(instance, from, to)
  )
}

/** The table for tasks. Those without times have the period that `periodOf` gives them. */
function taskOverlaps({ start, end, part }: Instance, from: number, to: number): boolean {
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
  from: number,
  to: number,
): boolean => (start === end ? start >= from && start < to : start < to && end > from)
