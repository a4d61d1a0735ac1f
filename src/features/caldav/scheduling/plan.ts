import ICAL from 'ical.js'
import { parseCalendar } from '../objects/calendar.ts'
import {
  addressOf,
  attendeeIn,
  attendeesOf,
  copyOf,
  instanceOf,
  isServersTask,
  masterOf,
  organizerOf,
  organizerOfAll,
  scheduledParts,
  sequenceOf,
  setValue,
  statusOf,
  utcTime,
} from './people.ts'
import { invitedIn, newsOf, viewOf, withoutFiles, withoutPrivateData } from './views.ts'

/** More attendees are a list, which has better ways to be reached. */
export const MAX_ATTENDEES = 200
/** An invitation is stored once for each attendee until it is sent. */
const MAX_CALENDAR_BYTES = 128 * 1024

export type Method = 'REQUEST' | 'CANCEL' | 'REPLY'

/** A message before it is written as mail. */
export interface Message {
  method: Method
  uid: string
  sender: string
  recipient: string
  calendar: ICAL.Component
  /** The attendee was invited before. */
  isUpdate: boolean
}

export interface Change {
  /** The object before and after; null when there is none. */
  before: string | null
  after: string | null
  /** The addresses that the holder may organize for. */
  organizers: readonly string[]
  /** The addresses under which the owner of the calendar is invited. */
  attendees: readonly string[]
  /** No replies are sent. */
  isSilent: boolean
  now: Date
}

/** The change cannot be made; the condition is the name of a precondition. */
export class RefusedChange extends Error {
  readonly condition: string
  constructor(condition: string, message: string) {
    super(message)
    this.condition = condition
  }
}

/** The messages that a change of an object sends (RFC 6638 section 3.2). */
export function messagesOf(change: Change): Message[] {
  const before = change.before === null ? undefined : parseCalendar(change.before)
  const after = change.after === null ? undefined : parseCalendar(change.after)
  if (after && new Set(organizersIn(after)).size > 1) {
    throw new RefusedChange(
      'C:same-organizer-in-all-components',
      'All components of an object have the same ORGANIZER',
    )
  }
  const own = [after, before]
    .flatMap((one) => (one ? organizersIn(one) : []))
    .find((one) => change.organizers.includes(one))
  const messages =
    own === undefined ? repliesOf(change, before, after) : invitationsOf(own, before, after)
  for (const { calendar, method } of messages) finish(calendar, method, change.now)
  return messages
}

const organizersIn = (root: ICAL.Component): string[] =>
  scheduledParts(root).flatMap((part) => organizerOf(part) ?? [])

function finish(calendar: ICAL.Component, method: Method, now: Date): void {
  setValue(calendar, 'method', method)
  for (const part of scheduledParts(calendar)) setValue(part, 'dtstamp', utcTime(now))
  if (calendar.toString().length <= MAX_CALENDAR_BYTES) return
  withoutFiles(calendar)
  if (calendar.toString().length > MAX_CALENDAR_BYTES) {
    throw new RefusedChange(
      'C:max-resource-size',
      `An invitation has at most ${MAX_CALENDAR_BYTES / 1024} KB`,
    )
  }
}

function invitationsOf(
  organizer: string,
  given: ICAL.Component | undefined,
  wanted: ICAL.Component | undefined,
): Message[] {
  const isOwn = (root: ICAL.Component | undefined) =>
    root !== undefined && organizerOfAll(scheduledParts(root)) === organizer
  const before = isOwn(given) ? given : undefined
  const after = isOwn(wanted) ? wanted : undefined
  const invited = invitedIn(after)
  if (invited.length > MAX_ATTENDEES) {
    throw new RefusedChange(
      'C:max-attendees-per-instance',
      `Invitations go to at most ${MAX_ATTENDEES} attendees`,
    )
  }
  const isOff = after !== undefined && isCancelled(after)
  const wasOff = before !== undefined && isCancelled(before)
  return [...new Set([...invited, ...invitedIn(before)])].flatMap((recipient) => {
    const old = before && viewOf(before, recipient)
    const fresh = after && viewOf(after, recipient)
    const about = { uid: uidOf((after ?? before) as ICAL.Component), sender: organizer, recipient }
    if (fresh && invited.includes(recipient) && !isOff) {
      const isNews = !old || wasOff || newsOf(old) !== newsOf(fresh)
      const request = { ...about, method: 'REQUEST' as const, calendar: fresh, isUpdate: !!old }
      return [...(isNews ? [request] : []), ...droppedInstances(old, fresh, about)]
    }
    // The client has taken over the messages to this attendee.
    const isLeft = fresh !== undefined && !invited.includes(recipient)
    if (!old || wasOff || isLeft) return []
    const calendar = cancellation(old, after ? sequenceIn(after) : 0, recipient)
    return [{ ...about, method: 'CANCEL' as const, calendar, isUpdate: true }]
  })
}

const uidOf = (root: ICAL.Component): string =>
  String(scheduledParts(root)[0]?.getFirstPropertyValue('uid') ?? '')

const isCancelled = (root: ICAL.Component): boolean => {
  const parts = scheduledParts(root)
  const main = masterOf(parts)
  const decisive = main ? [main] : parts
  return decisive.every(
    (part) => String(part.getFirstPropertyValue('status') ?? '').toUpperCase() === 'CANCELLED',
  )
}

const sequenceIn = (root: ICAL.Component): number =>
  Math.max(0, ...scheduledParts(root).map(sequenceOf))

/** RFC 5546 section 3.2.5: names the attendee for whom the event is cancelled. */
function cancellation(view: ICAL.Component, atLeast: number, recipient: string): ICAL.Component {
  const calendar = copyOf(view)
  for (const part of scheduledParts(calendar)) {
    setValue(part, 'status', 'CANCELLED')
    setValue(part, 'sequence', Math.max(sequenceOf(part) + 1, atLeast))
    for (const attendee of attendeesOf(part)) {
      if (addressOf(attendee) !== recipient) part.removeProperty(attendee)
    }
  }
  return calendar
}

/** Instances that an attendee was invited to without the series, and is no more. */
function droppedInstances(
  old: ICAL.Component | undefined,
  fresh: ICAL.Component,
  about: Pick<Message, 'uid' | 'sender' | 'recipient'>,
): Message[] {
  if (!old || masterOf(scheduledParts(old)) || masterOf(scheduledParts(fresh))) return []
  const kept = new Set(scheduledParts(fresh).map(instanceOf))
  const dropped = copyOf(old)
  for (const part of scheduledParts(dropped)) {
    if (kept.has(instanceOf(part))) dropped.removeSubcomponent(part)
  }
  if (scheduledParts(dropped).length === 0) return []
  const calendar = cancellation(dropped, 0, about.recipient)
  return [{ ...about, method: 'CANCEL', calendar, isUpdate: true }]
}

/** Replies of the owner of the calendar to the organizer, for each instance with a new answer. */
function repliesOf(
  { attendees, isSilent }: Change,
  before: ICAL.Component | undefined,
  after: ICAL.Component | undefined,
): Message[] {
  const root = after ?? before
  if (!root || isSilent || (before && isCancelled(before))) return []
  const recipient = organizerOfAll(scheduledParts(root))
  const isOurs = scheduledParts(root).every((part) =>
    isServersTask(part.getFirstProperty('organizer')),
  )
  if (recipient === undefined || !isOurs) return []
  return attendees.flatMap((sender) => {
    const answers = answersOf(before, after, sender)
    if (answers.length === 0) return []
    const calendar = copyOf(root)
    for (const part of scheduledParts(calendar)) calendar.removeSubcomponent(part)
    for (const part of answers) calendar.addSubcomponent(part)
    const uid = uidOf(root)
    return [{ method: 'REPLY', uid, sender, recipient, calendar, isUpdate: false }]
  })
}

/** The components of a reply: one for each answer that changed. */
function answersOf(
  before: ICAL.Component | undefined,
  after: ICAL.Component | undefined,
  me: string,
): ICAL.Component[] {
  const old = before ? scheduledParts(before) : []
  if (!after) {
    return old
      .filter((part) => isServersTask(attendeeIn(part, me)))
      .filter((part) => attendeeIn(part, me) && answerIn(part, me) !== 'DECLINED')
      .map((part) => replyOf(part, me, 'DECLINED'))
  }
  const oldMaster = masterOf(old)
  const fresh = scheduledParts(after)
  const changed = fresh.flatMap((part) => {
    if (!attendeeIn(part, me)) return []
    const same = old.find((one) => instanceOf(one) === instanceOf(part)) ?? oldMaster
    const answer = answerIn(part, me)
    const earlier = same && attendeeIn(same, me) ? answerIn(same, me) : 'NEEDS-ACTION'
    return answer === earlier ? [] : [replyOf(part, me, answer)]
  })
  return [...changed, ...excludedBy(oldMaster, masterOf(fresh), me)]
}

/** Programs delete one instance of an invitation by leaving it out of the series. */
function excludedBy(
  old: ICAL.Component | undefined,
  fresh: ICAL.Component | undefined,
  me: string,
): ICAL.Component[] {
  if (!old || !fresh || !attendeeIn(old, me)) return []
  const known = new Set(old.getAllProperties('exdate').flatMap(timesOf))
  return fresh.getAllProperties('exdate').flatMap((property) => {
    const [, parameters, type, ...values] = property.toJSON() as unknown as ExcludedTimes
    return values
      .filter((_value, index) => !known.has(timesOf(property)[index] ?? ''))
      .map((value) => {
        const reply = replyOf(fresh, me, 'DECLINED')
        for (const name of ['dtstart', 'dtend', 'duration']) reply.removeAllProperties(name)
        for (const name of ['recurrence-id', 'dtstart']) {
          const time = [name, { ...parameters }, type, value]
          reply.addProperty(new ICAL.Property(time as never))
        }
        return reply
      })
  })
}

type ExcludedTimes = [string, Record<string, string>, string, ...unknown[]]

const timesOf = (property: ICAL.Property): string[] =>
  property
    .getValues()
    .map((time) => (time instanceof ICAL.Time ? String(time.toUnixTime()) : String(time)))

const answerIn = (part: ICAL.Component, me: string): string => statusOf(attendeeIn(part, me))

const REPLY_PROPERTIES = new Set([
  'uid',
  'sequence',
  'organizer',
  'recurrence-id',
  'dtstart',
  'dtend',
  'duration',
  'due',
  'summary',
  'location',
])

function replyOf(part: ICAL.Component, me: string, answer: string): ICAL.Component {
  const reply = copyOf(part)
  for (const property of reply.getAllProperties()) {
    const isMe = property.name === 'attendee' && addressOf(property) === me
    if (!isMe && !REPLY_PROPERTIES.has(property.name)) reply.removeProperty(property)
  }
  withoutPrivateData(reply)
  for (const attendee of attendeesOf(reply)) {
    attendee.setParameter('partstat', answer)
    attendee.removeParameter('rsvp')
  }
  return reply
}
