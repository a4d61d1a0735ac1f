export const DAV = 'DAV:'
export const CALDAV = 'urn:ietf:params:xml:ns:caldav'
export const CARDDAV = 'urn:ietf:params:xml:ns:carddav'
export const CALENDARSERVER = 'http://calendarserver.org/ns/'
export const APPLE = 'http://apple.com/ns/ical/'

export const PREFIXES: Record<string, string> = {
  [DAV]: 'D',
  [CALDAV]: 'C',
  [CARDDAV]: 'A',
  [CALENDARSERVER]: 'S',
  [APPLE]: 'I',
}

/** The declarations of the prefixes, for the root of every answer. */
export const DECLARATIONS = Object.entries(PREFIXES)
  .map(([namespace, prefix]) => `xmlns:${prefix}="${namespace}"`)
  .join(' ')

/** The name of a property as one text: `{DAV:}displayname`. */
export const keyOf = (namespace: string, name: string): string => `{${namespace}}${name}`

export const CALENDAR_TIMEZONE = keyOf(CALDAV, 'calendar-timezone')

export function splitKey(key: string): { namespace: string; name: string } {
  const end = key.lastIndexOf('}')
  return { namespace: key.slice(1, end), name: key.slice(end + 1) }
}

/** Deeper or larger documents are no request of a calendar program. */
export const XML_LIMITS = { depth: 60, parts: 10_000 }
