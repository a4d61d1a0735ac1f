/** An event as text; `lines` are added to it. */
export const event = (uid: string, start: string, ...lines: string[]) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//test//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    'DTSTAMP:20260101T000000Z',
    `DTSTART:${start}`,
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')

export const card = (uid: string, name: string, ...lines: string[]) =>
  [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `UID:${uid}`,
    `FN:${name}`,
    `N:${name};;;;`,
    ...lines,
    'END:VCARD',
    '',
  ].join('\r\n')

const change = (name: string, start: string, from: string, to: string, rule: string) => [
  `BEGIN:${name}`,
  `DTSTART:${start}`,
  `TZOFFSETFROM:${from}`,
  `TZOFFSETTO:${to}`,
  `RRULE:${rule}`,
  `END:${name}`,
]

/** A VCALENDAR with a VTIMEZONE. */
export const zone = (tzid: string, ...lines: string[]) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//test//EN',
    'BEGIN:VTIMEZONE',
    `TZID:${tzid}`,
    ...lines,
    'END:VTIMEZONE',
    'END:VCALENDAR',
    '',
  ].join('\r\n')

/** Five hours behind UTC, four from the second Sunday of March to the first of November. */
export const NEW_YORK = zone(
  'America/New_York',
  ...change('DAYLIGHT', '20070311T020000', '-0500', '-0400', 'FREQ=YEARLY;BYMONTH=3;BYDAY=2SU'),
  ...change('STANDARD', '20071104T020000', '-0400', '-0500', 'FREQ=YEARLY;BYMONTH=11;BYDAY=1SU'),
)

/** Nine hours ahead of UTC. */
export const TOKYO = zone(
  'Asia/Tokyo',
  'BEGIN:STANDARD',
  'DTSTART:19510909T000000',
  'TZOFFSETFROM:+0900',
  'TZOFFSETTO:+0900',
  'END:STANDARD',
)
