import type ICAL from 'ical.js'
import {
  addressOf,
  attendeeIn,
  attendeesOf,
  copyOf,
  exclude,
  instanceOf,
  isServersTask,
  masterOf,
  organizerOf,
  scheduledParts,
} from './people.ts'

/** Parameters that are between a client and its server. */
const PRIVATE_PARAMETERS = [
  'schedule-agent',
  'schedule-status',
  'schedule-force-send',
  'x-replied-at',
]
/** Properties whose change is no news for an attendee; attendees are compared one by one. */
const NO_NEWS = new Set([
  'attendee',
  'created',
  'dtstamp',
  'last-modified',
  'organizer',
  'sequence',
  'transp',
])

/** The attendees other than the organizer that the server sends messages to. */
export function invitedIn(root: ICAL.Component | undefined): string[] {
  const found = new Set<string>()
  for (const part of root ? scheduledParts(root) : []) {
    const organizer = organizerOf(part)
    for (const attendee of attendeesOf(part)) {
      const address = addressOf(attendee)
      if (address === undefined || address === organizer || !isServersTask(attendee)) continue
      found.add(address)
    }
  }
  return [...found]
}

/** The object as one attendee may see it: the components that invite it, without private data. */
export function viewOf(root: ICAL.Component, attendee: string): ICAL.Component | undefined {
  const view = copyOf(root)
  const parts = scheduledParts(view)
  const master = masterOf(parts)
  const isInSeries = master !== undefined && attendeeIn(master, attendee) !== undefined
  for (const part of parts) {
    if (attendeeIn(part, attendee)) {
      withoutPrivateData(part)
      continue
    }
    const instance = part.getFirstProperty('recurrence-id')
    if (isInSeries && instance) exclude(master, instance)
    view.removeSubcomponent(part)
  }
  return scheduledParts(view).length > 0 ? view : undefined
}

export function withoutPrivateData(part: ICAL.Component): void {
  part.removeAllSubcomponents('valarm')
  for (const person of [...attendeesOf(part), ...part.getAllProperties('organizer')]) {
    for (const name of PRIVATE_PARAMETERS) person.removeParameter(name)
  }
}

/** Attachments inside the object make a message large; links stay. */
export function withoutFiles(view: ICAL.Component): void {
  for (const part of scheduledParts(view)) {
    for (const file of part.getAllProperties('attach')) {
      if (file.type === 'binary') part.removeProperty(file)
    }
  }
}

/** The news of a view as text: two equal texts need no message. */
export const newsOf = (view: ICAL.Component): string =>
  JSON.stringify(
    scheduledParts(view)
      .map((part) => [instanceOf(part), part.name, propertiesOf(part)])
      .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  )

const propertiesOf = (part: ICAL.Component): string[] =>
  part
    .getAllProperties()
    .filter(({ name }) => !NO_NEWS.has(name) && !name.startsWith('x-'))
    .map((property) => JSON.stringify(property.toJSON()))
    .toSorted()
