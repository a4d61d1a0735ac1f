import { card, type DavClient, event, NAMESPACES } from './dav.ts'
import type { Input } from './measured-server.ts'

const MB = 1024 * 1024
const DATA = '<D:getetag/><C:calendar-data/>'
const DAY = '20260301T000000Z'
const YEAR = '<C:time-range start="20260101T000000Z" end="20261231T000000Z"/>'

const stamp = (index: number) =>
  `${new Date(Date.UTC(2026, 0, 1, index)).toISOString().slice(0, 13).replaceAll('-', '')}0000Z`

/** Lines of about 60 bytes until an object has so many megabytes. */
const filled = (megabytes: number, line: (index: number) => string) => {
  const count = Math.floor((megabytes * MB) / (line(10_000).length + 2))
  return Array.from({ length: count }, (_none, index) => line(index)).join('\r\n')
}

const overrides = (uid: string, megabytes: number) =>
  filled(megabytes, (index) =>
    [
      'END:VEVENT',
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20260101T000000Z',
      `RECURRENCE-ID:${stamp(index)}`,
      `DTSTART:${stamp(index)}`,
      'DURATION:PT10M',
    ].join('\r\n'),
  )

/** Objects of up to 5 MB that are expensive to read, to compare or to expand. */
export const hostileEvents: Record<string, string> = {
  'a long line': event('line', DAY, `DESCRIPTION:${'x<&'.repeat((4.9 * MB) / 3)}`),
  'many properties': event(
    'properties',
    DAY,
    filled(4.8, (index) => `X-P${index}:a & b < c`),
  ),
  'many overrides': event('overrides', DAY, 'RRULE:FREQ=HOURLY', overrides('overrides', 4.8)),
  'many later overrides': event(
    'later',
    DAY,
    'RRULE:FREQ=HOURLY',
    overrides('later', 1).replaceAll('RECURRENCE-ID', 'RECURRENCE-ID;RANGE=THISANDFUTURE'),
  ),
  'many dates': event(
    'dates',
    DAY,
    filled(4.8, (index) => `RDATE:${stamp(index)}`),
  ),
  'many rules': event(
    'rules',
    DAY,
    filled(1, () => 'RRULE:FREQ=HOURLY;BYMINUTE=0,10,20,30,40,50'),
  ),
  'many attendees': event(
    'attendees',
    DAY,
    'ORGANIZER:mailto:admin@acme.test',
    filled(4.8, (index) => `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:u${index}@far.test`),
  ),
  'many overrides with a guest': event(
    'guests',
    DAY,
    'RRULE:FREQ=HOURLY',
    'ORGANIZER:mailto:admin@acme.test',
    overrides('guests', 3).replaceAll(
      'DURATION',
      'ORGANIZER:mailto:admin@acme.test\r\nATTENDEE:mailto:grace@far.test\r\nDURATION',
    ),
  ),
  'many alarms': event(
    'alarms',
    DAY,
    'RRULE:FREQ=HOURLY',
    filled(2, () => 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM'),
  ),
}

const asXml = (inner: string) => `<?xml version="1.0" encoding="utf-8"?>\n${inner}`
const propfind = (inner: string) => asXml(`<D:propfind ${NAMESPACES}>${inner}</D:propfind>`)
/** The same properties in the document of each method. */
const WRAPPERS: Record<string, (properties: string) => string> = {
  PROPFIND: propfind,
  PROPPATCH: (inner) =>
    asXml(`<D:propertyupdate ${NAMESPACES}><D:set>${inner}</D:set></D:propertyupdate>`),
  REPORT: (inner) =>
    asXml(
      `<D:sync-collection ${NAMESPACES}><D:sync-token/><D:sync-level>1</D:sync-level>${inner}</D:sync-collection>`,
    ),
}
const times = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_none, index) => piece(index)).join('')

/** Documents of up to 10 MB that are expensive to read, or ask for much. */
const hostileXml: Record<string, string> = {
  'a long text': `<D:prop><D:getetag/>${'x'.repeat(9.9 * MB)}</D:prop>`,
  'a long attribute': `<D:prop><D:getetag a="${'x'.repeat(9.9 * MB)}"/></D:prop>`,
  'long names': `<D:prop>${times(9000, (at) => `<x${at}${'y'.repeat(1000)}/>`)}</D:prop>`,
  'long namespaces': `<D:prop>${times(4500, (at) => `<x xmlns="urn:${at}:${'&lt;'.repeat(500)}"/>`)}</D:prop>`,
  entities: `<D:prop>${'&lt;'.repeat((9.9 * MB) / 4)}</D:prop>`,
  'too many elements': `<D:prop>${'<D:getetag/>'.repeat(800_000)}</D:prop>`,
  'too many levels': '<a>'.repeat(3_000_000),
  'no end': `<D:prop>${'<![CDATA['.repeat(1_000_000)}`,
  'no XML': 'x'.repeat(9.9 * MB),
  'a comment': `<!--${' -'.repeat(4.9 * MB)} --><D:prop><D:getetag/></D:prop>`,
}

const query = (filter: string, data = DATA) =>
  asXml(
    `<C:calendar-query ${NAMESPACES}><D:prop>${data}</D:prop><C:filter><C:comp-filter name="VCALENDAR">${filter}</C:comp-filter></C:filter></C:calendar-query>`,
  )
const ofEvents = (inner: string) => `<C:comp-filter name="VEVENT">${inner}</C:comp-filter>`
const expanded = (part: string) => `<D:getetag/><C:calendar-data>${part}</C:calendar-data>`
const RANGE = 'start="20260301T000000Z" end="20260401T000000Z"'

/** Requests to the calendar and the address book of a holder that cost the server much. */
export function hostileDav(me: DavClient, accountId: string): Input[] {
  const calendar = `/dav/calendars/${accountId}/calendar/`
  const empty = `/dav/calendars/${accountId}/tasks/`
  const other = `/dav/calendars/${accountId}/other/`
  const book = `/dav/addressbooks/${accountId}/contacts/`
  const names = Object.keys(hostileEvents).map((name) => `${name.replaceAll(' ', '-')}.ics`)
  const hrefs = names.map((name) => `<D:href>${calendar}${name}</D:href>`).join('')
  const multiget = (data: string, wanted: string) =>
    asXml(
      `<C:calendar-multiget ${NAMESPACES}><D:prop>${data}</D:prop>${wanted}</C:calendar-multiget>`,
    )
  const reports: Record<string, string> = {
    'every object': query(ofEvents('')),
    'a text in every object': query(
      ofEvents(
        '<C:prop-filter name="DESCRIPTION"><C:text-match>zzz</C:text-match></C:prop-filter>',
      ),
    ),
    'a year': query(ofEvents(YEAR)),
    'expanded instances': query(ofEvents(YEAR), expanded(`<C:expand ${RANGE}/>`)),
    'exceptions of a range': query(ofEvents(''), expanded(`<C:limit-recurrence-set ${RANGE}/>`)),
    'parts of the data': query(
      ofEvents(''),
      expanded(
        '<C:comp name="VCALENDAR"><C:comp name="VEVENT"><C:prop name="UID"/></C:comp></C:comp>',
      ),
    ),
    'many filters': query(
      ofEvents(
        times(
          3000,
          (at) => `<C:prop-filter name="X-P${at}"><C:text-match>a</C:text-match></C:prop-filter>`,
        ),
      ),
    ),
    'named objects': multiget(DATA, hrefs),
    'thousands of names': multiget(
      DATA,
      times(9000, (at) => `<D:href>${calendar}${'%41'.repeat(300)}${at}.ics</D:href>`),
    ),
    'all changes': asXml(
      `<D:sync-collection ${NAMESPACES}><D:sync-token/><D:sync-level>1</D:sync-level><D:prop>${DATA}</D:prop></D:sync-collection>`,
    ),
    'busy times': asXml(`<C:free-busy-query ${NAMESPACES}>${YEAR}</C:free-busy-query>`),
  }
  /** Refusals are expected answers, as are limits of time. */
  const expectedly = (name: string, run: () => Promise<{ status: number; text: string }>) => ({
    name,
    run: async () => {
      const { status, text } = await run()
      if (status >= 500 && status !== 507) throw new Error(`${name}: ${status} ${text}`)
    },
  })
  return [
    ...Object.entries(hostileEvents).flatMap(([name, text], at) => [
      expectedly(`PUT ${name}`, () => me.put(calendar + names[at], text)),
      expectedly(`PUT ${name} again`, () => me.put(calendar + names[at], text)),
      expectedly(`GET ${name}`, () => me.get(calendar + names[at])),
    ]),
    expectedly('PUT of a card with many lines', () => {
      const lines = filled(4.8, (index) => `EMAIL:u${index}@example.test`)
      return me.put(`${book}large.vcf`, card('large', 'Large', lines))
    }),
    expectedly('PUT of a card with a long line', () =>
      me.put(`${book}line.vcf`, card('line', 'Line', `NOTE:${'"'.repeat(4.8 * MB)}`)),
    ),
    ...Object.entries(hostileXml).flatMap(([name, body]) =>
      Object.entries(WRAPPERS).map(([method, wrapped]) =>
        expectedly(`${method} with ${name}`, () =>
          me.send(method, empty, { body: wrapped(body), headers: { depth: '1' } }),
        ),
      ),
    ),
    ...Object.entries(reports).map(([name, body]) =>
      expectedly(`REPORT of ${name}`, () => me.report(calendar, body)),
    ),
    expectedly('PROPFIND with the data', () => me.propfind(calendar, DATA, '1')),
    expectedly('REPORT of all contacts', () =>
      me.report(
        book,
        asXml(
          `<A:addressbook-query ${NAMESPACES}><D:prop><D:getetag/><A:address-data/></D:prop><A:filter><A:prop-filter name="NOTE"><A:text-match>x</A:text-match></A:prop-filter></A:filter></A:addressbook-query>`,
        ),
      ),
    ),
    expectedly('MKCALENDAR', () => me.send('MKCALENDAR', other)),
    expectedly('COPY of a large object', () =>
      me.send('COPY', calendar + names[2], { headers: { destination: `${other}copy.ics` } }),
    ),
  ]
}
