import ICAL from 'ical.js'
import { parseCalendar } from '../objects/calendar.ts'
import { instancesOf, OutOfBudget } from '../objects/instances.ts'
import { timeOf } from '../objects/times.ts'
import {
  attendeeIn,
  copyOf,
  copyOfProperty,
  exclude,
  instanceOf,
  masterOf,
  organizerOfAll,
  parameterOf,
  scheduledParts,
  sequenceOf,
  setValue,
  statusOf,
} from './people.ts'
import type { Method } from './plan.ts'
import { withoutPrivateData } from './views.ts'

export interface Received {
  method: Method
  /** The calendar of the message. */
  calendar: string
  /** The proven author of the message. */
  author: string
  /** The addresses of the mailbox that received it. */
  mine: readonly string[]
  /** The object with the same UID; null when there is none. */
  stored: string | null
  /** The time in seconds at which the holder has deleted that object. */
  deletedAt: number | null
}

/** The message changes nothing; the text says why. */
export class Ignored extends Error {}

const MAX_COMPONENTS = 200

/** The object of a calendar after a message about it (RFC 5546). Throws `Ignored`. */
export function applied(received: Received): string {
  const root = parseCalendar(received.calendar)
  const parts = scheduledParts(root)
  if (parts.length === 0 || parts.length > MAX_COMPONENTS) throw new Ignored('no event')
  if (new Set(parts.map((part) => part.getFirstPropertyValue('uid'))).size !== 1) {
    throw new Ignored('several events')
  }
  const stored = received.stored === null ? undefined : parseCalendar(received.stored)
  const result = { REQUEST: invited, CANCEL: cancelled, REPLY: answered }[received.method](
    received,
    root,
    stored,
  )
  return `${result.toString()}\r\n`
}

type Apply = (
  received: Received,
  root: ICAL.Component,
  stored: ICAL.Component | undefined,
) => ICAL.Component

/** The organizer decides about its event, and about no other. */
function checkOrganizer(
  { author, mine }: Received,
  root: ICAL.Component,
  stored: ICAL.Component | undefined,
): void {
  if (organizerOfAll(scheduledParts(root)) !== author) throw new Ignored('not by the organizer')
  if (mine.includes(author)) throw new Ignored('the own event')
  if (stored && organizerOfAll(scheduledParts(stored)) !== author) {
    throw new Ignored('the UID belongs to another event')
  }
}

/** RFC 5546 section 2.1.5: the sequence decides, then the time of the message. */
function isOlder(part: ICAL.Component, known: ICAL.Component): boolean {
  const difference = sequenceOf(part) - sequenceOf(known)
  if (difference !== 0) return difference < 0
  return (timeOf(part, 'dtstamp') ?? 0) <= (timeOf(known, 'dtstamp') ?? 0)
}

const invited: Apply = (received, root, stored) => {
  checkOrganizer(received, root, stored)
  const { mine, deletedAt } = received
  const parts = scheduledParts(root)
  if (!parts.some((part) => mine.some((address) => attendeeIn(part, address)))) {
    throw new Ignored('not invited')
  }
  root.removeAllProperties('method')
  const known = stored ? scheduledParts(stored) : []
  const master = masterOf(parts)
  if (!stored && deletedAt !== null) {
    const sentAt = Math.max(...parts.map((part) => timeOf(part, 'dtstamp') ?? 0))
    if (sentAt <= deletedAt) throw new Ignored('deleted since')
  }
  if (stored && !master) return withInstances(received, root, stored)
  const knownMaster = masterOf(known)
  if (master && knownMaster && isOlder(master, knownMaster)) throw new Ignored('older')
  for (const part of parts) {
    const same = known.find((one) => instanceOf(one) === instanceOf(part))
    adopt(part, same, same ?? knownMaster, mine)
  }
  return root
}

/** An invitation that changes some instances of a series. */
function withInstances(
  { mine }: Received,
  root: ICAL.Component,
  stored: ICAL.Component,
): ICAL.Component {
  let isChanged = false
  for (const part of scheduledParts(root)) {
    const known = scheduledParts(stored)
    const same = known.find((one) => instanceOf(one) === instanceOf(part))
    if (same && isOlder(part, same)) continue
    const copy = copyOf(part)
    adopt(copy, same, same ?? masterOf(known), mine)
    if (same) stored.removeSubcomponent(same)
    stored.addSubcomponent(copy)
    isChanged = true
  }
  if (!isChanged) throw new Ignored('older')
  const zones = new Set(
    stored.getAllSubcomponents('vtimezone').map((zone) => zone.getFirstPropertyValue('tzid')),
  )
  for (const zone of root.getAllSubcomponents('vtimezone')) {
    if (!zones.has(zone.getFirstPropertyValue('tzid'))) stored.addSubcomponent(copyOf(zone))
  }
  return stored
}

const TIMES = ['dtstart', 'dtend', 'duration', 'due', 'rrule', 'rdate']

const timesOf = (part: ICAL.Component): string =>
  JSON.stringify(TIMES.map((name) => part.getAllProperties(name).map((one) => one.toJSON())))

/** Makes a component the holder's: own alarms, and the own answer as long as the time is the same. */
function adopt(
  part: ICAL.Component,
  same: ICAL.Component | undefined,
  known: ICAL.Component | undefined,
  mine: readonly string[],
): void {
  withoutPrivateData(part)
  for (const alarm of same?.getAllSubcomponents('valarm') ?? []) part.addSubcomponent(copyOf(alarm))
  const isMoved = !same || timesOf(part) !== timesOf(same)
  for (const address of mine) {
    const earlier = known && attendeeIn(known, address)
    const answer = earlier && !isMoved ? statusOf(earlier) : 'NEEDS-ACTION'
    attendeeIn(part, address)?.setParameter('partstat', answer)
  }
}

const cancelled: Apply = (received, root, stored) => {
  if (!stored) throw new Ignored('unknown event')
  checkOrganizer(received, root, stored)
  let isChanged = false
  for (const part of scheduledParts(root)) {
    const known = scheduledParts(stored)
    const instance = part.getFirstProperty('recurrence-id')
    const targets = instance ? known.filter((one) => instanceOf(one) === instanceOf(part)) : known
    const master = masterOf(known)
    const compared = instance ? targets[0] : (master ?? known[0])
    if (compared && isOlder(part, compared)) continue
    for (const target of targets) {
      setValue(target, 'status', 'CANCELLED')
      setValue(target, 'sequence', sequenceOf(part))
      const stamp = part.getFirstProperty('dtstamp')
      if (stamp) setProperty(target, stamp)
    }
    const isNew = instance && targets.length === 0 && master && hasInstance(master, instance)
    if (isNew) exclude(master, copyOfProperty(instance))
    if (targets.length > 0 || isNew) isChanged = true
  }
  if (!isChanged) throw new Ignored('older')
  return stored
}

function setProperty(part: ICAL.Component, property: ICAL.Property): void {
  part.removeAllProperties(property.name)
  part.addProperty(copyOfProperty(property))
}

const startOf = (instance: ICAL.Property): number | undefined => {
  const time = instance.getFirstValue()
  return time instanceof ICAL.Time ? time.toUnixTime() : undefined
}

function hasInstance(master: ICAL.Component, instance: ICAL.Property): boolean {
  const start = startOf(instance)
  if (start === undefined) return false
  try {
    for (const one of instancesOf([master], { from: start, to: start + 1 })) {
      if (one.start === start) return true
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
  }
  return false
}

const ANSWERS = ['ACCEPTED', 'DECLINED', 'TENTATIVE', 'NEEDS-ACTION', 'DELEGATED']
/** Answers to tasks. */
const PROGRESS = ['COMPLETED', 'IN-PROCESS']

const answered: Apply = ({ author, mine }, root, stored) => {
  const organizer = stored && organizerOfAll(scheduledParts(stored))
  if (!stored || organizer === undefined || !mine.includes(organizer)) {
    throw new Ignored('not an event of this mailbox')
  }
  let isChanged = false
  for (const part of scheduledParts(root)) {
    const attendee = attendeeIn(part, author)
    if (!attendee) continue
    const answer = statusOf(attendee)
    const isKnown = ANSWERS.includes(answer) || (part.name === 'vtodo' && PROGRESS.includes(answer))
    if (!isKnown) continue
    const stamp = String(Math.trunc(timeOf(part, 'dtstamp') ?? 0))
    for (const target of answeredParts(stored, part)) {
      if (sequenceOf(part) < sequenceOf(target)) continue
      const own = attendeeIn(target, author)
      if (!own || Number(stamp) < Number(parameterOf(own, 'x-replied-at') || 0)) continue
      if (statusOf(own) === answer && parameterOf(own, 'x-replied-at') !== '') continue
      own.setParameter('partstat', answer)
      own.setParameter('x-replied-at', stamp)
      own.setParameter('schedule-status', '2.0')
      isChanged = true
    }
  }
  if (!isChanged) throw new Ignored('older, or not by an attendee')
  return stored
}

/** The components that a reply is about; an instance without a component of its own gets one. */
function answeredParts(stored: ICAL.Component, reply: ICAL.Component): ICAL.Component[] {
  const parts = scheduledParts(stored)
  const instance = reply.getFirstProperty('recurrence-id')
  if (!instance) return parts
  const same = parts.filter((part) => instanceOf(part) === instanceOf(reply))
  const master = masterOf(parts)
  if (same.length > 0 || !master || parts.length >= MAX_COMPONENTS) return same
  if (!hasInstance(master, instance)) return []
  const own = copyOf(master)
  for (const name of ['rrule', 'rdate', 'exrule', 'exdate']) own.removeAllProperties(name)
  moveTo(own, master, instance)
  stored.addSubcomponent(own)
  return [own]
}

/** Sets the times of an instance as the series has them: same zone, same length. */
function moveTo(own: ICAL.Component, master: ICAL.Component, instance: ICAL.Property): void {
  const start = master.getFirstPropertyValue('dtstart')
  const end = master.getFirstPropertyValue('dtend')
  const at = startOf(instance)
  if (!(start instanceof ICAL.Time) || at === undefined) return
  const seconds = at - start.toUnixTime()
  for (const name of ['dtstart', 'dtend', 'recurrence-id']) {
    const from = name === 'dtend' ? end : start
    if (!(from instanceof ICAL.Time)) continue
    const zone = master.getFirstProperty(name === 'dtend' ? 'dtend' : 'dtstart')
    const time = ICAL.Time.fromJSDate(new Date((from.toUnixTime() + seconds) * 1000), true)
    const local = from.isDate ? time : time.convertToZone(from.zone ?? ICAL.Timezone.utcTimezone)
    local.isDate = from.isDate
    own.removeAllProperties(name)
    const property = own.addPropertyWithValue(name, local)
    const tzid = zone?.getParameter('tzid')
    if (tzid !== undefined) property.setParameter('tzid', tzid)
  }
}
