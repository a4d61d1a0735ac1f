import ICAL from 'ical.js'
import { partsOf } from '../objects/calendar.ts'

/** Components that are scheduled; a VJOURNAL has no attendees. */
const SCHEDULED = ['vevent', 'vtodo']
/** Other addresses, such as quoted local parts, are left to the client. */
const ADDRESS = /^mailto:([\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9.-]{1,253})$/i

/** Returns whether an object may have attendees, without reading it. */
export const mayHavePeople = (text: string): boolean => /\nATTENDEE[;:]/i.test(text)

/** The e-mail address of an ORGANIZER or ATTENDEE, in lower case; undefined for another URI. */
export function addressOf(property: ICAL.Property | null): string | undefined {
  const value = property?.getFirstValue()
  return typeof value === 'string' ? ADDRESS.exec(value.trim())?.[1]?.toLowerCase() : undefined
}

export const scheduledParts = (root: ICAL.Component): ICAL.Component[] =>
  partsOf(root).filter(({ name }) => SCHEDULED.includes(name))

export const organizerOf = (part: ICAL.Component): string | undefined =>
  addressOf(part.getFirstProperty('organizer'))

/** The organizer of all components; undefined when there is none, or when they differ. */
export function organizerOfAll(parts: readonly ICAL.Component[]): string | undefined {
  const found = new Set(parts.map(organizerOf))
  return found.size === 1 ? [...found][0] : undefined
}

export const attendeesOf = (part: ICAL.Component): ICAL.Property[] =>
  part.getAllProperties('attendee')

export const attendeeIn = (part: ICAL.Component, address: string): ICAL.Property | undefined =>
  attendeesOf(part).find((one) => addressOf(one) === address)

export const parameterOf = (property: ICAL.Property | null | undefined, name: string): string =>
  String(property?.getParameter(name) ?? '').toUpperCase()

/** RFC 6638 section 7.1: false when the client sends the messages to this person, or none are sent. */
export const isServersTask = (property: ICAL.Property | null | undefined): boolean =>
  ['', 'SERVER'].includes(parameterOf(property, 'schedule-agent'))

/** RFC 5545 section 3.2.12: no answer yet, unless another status is given. */
export const statusOf = (property: ICAL.Property | null | undefined): string =>
  parameterOf(property, 'partstat') || 'NEEDS-ACTION'

export const sequenceOf = (part: ICAL.Component): number => {
  const value = Number(part.getFirstPropertyValue('sequence') ?? 0)
  return Number.isFinite(value) ? value : 0
}

/** The instance that a component stands for; empty for the whole series or a single event. */
export function instanceOf(part: ICAL.Component): string {
  const id = part.getFirstPropertyValue('recurrence-id')
  return id instanceof ICAL.Time ? String(id.toUnixTime()) : id === null ? '' : String(id)
}

export const masterOf = (parts: readonly ICAL.Component[]): ICAL.Component | undefined =>
  parts.find((part) => !part.hasProperty('recurrence-id'))

export const copyOf = (component: ICAL.Component): ICAL.Component =>
  new ICAL.Component(structuredClone(component.toJSON()) as never)

export const copyOfProperty = (property: ICAL.Property): ICAL.Property =>
  new ICAL.Property(structuredClone(property.toJSON()) as never)

export const utcTime = (time: Date): ICAL.Time => ICAL.Time.fromJSDate(time, true)

export function setValue(part: ICAL.Component, name: string, value: unknown): void {
  part.removeAllProperties(name)
  part.addPropertyWithValue(name, value as never)
}

/** Leaves an instance out of a series. */
export function exclude(master: ICAL.Component, instance: ICAL.Property): void {
  const [, parameters, type, ...values] = structuredClone(instance.toJSON()) as unknown as [
    string,
    Record<string, string>,
    string,
    ...unknown[],
  ]
  delete parameters.range
  master.addProperty(new ICAL.Property(['exdate', parameters, type, ...values] as never))
}
