import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event, NAMESPACES, NEW_YORK, TOKYO, zone } from '../../../../test/support/dav.ts'
import {
  busyIn,
  calendarAt,
  calendarQuery,
  ofEvents,
  range,
  startCalendar,
  xmlOf,
} from '../../../../test/support/dav-calendar.ts'
import { CALENDAR_TIMEZONE } from '../xml/names.ts'

let own: Awaited<ReturnType<typeof startCalendar>>
let me: Awaited<ReturnType<typeof startCalendar>>['me']
let home: string
beforeAll(async () => {
  own = await startCalendar()
  me = own.me
  home = `/dav/calendars/${own.acme.accountId}/`
  await make('utc')
  await make('new-york', NEW_YORK)
})
afterAll(() => own.stop())

/** An event on a date, or from one date to another. */
const days = (uid: string, date: string, ...lines: string[]) =>
  event(uid, date, ...lines).replace('DTSTART:', 'DTSTART;VALUE=DATE:')

const ALARM = ['BEGIN:VALARM', 'ACTION:AUDIO', 'TRIGGER:PT9H', 'END:VALARM']
/** New York: the clock goes forward on 8 March 2026 and back on 1 November. */
const OBJECTS = {
  day: days('day', '20260610', ...ALARM),
  floating: event('floating', '20260610T200000', 'DURATION:PT1H'),
  short: days('short', '20260308'),
  long: days('long', '20261101'),
  weekly: days('weekly', '20260403', 'RRULE:FREQ=WEEKLY', 'DTEND;VALUE=DATE:20260404'),
  task: event('task', '', 'DUE;VALUE=DATE:20260612')
    .replace('DTSTART:\r\n', '')
    .replaceAll('VEVENT', 'VTODO'),
}

const timezone = (text: string) => `<C:calendar-timezone>${xmlOf(text)}</C:calendar-timezone>`

const mkcalendar = (path: string, properties: string) =>
  me.send('MKCALENDAR', path, {
    body: `<C:mkcalendar ${NAMESPACES}><D:set><D:prop>${properties}</D:prop></D:set></C:mkcalendar>`,
  })

async function make(name: string, text?: string): Promise<void> {
  const properties = text === undefined ? '<D:displayname>x</D:displayname>' : timezone(text)
  expect((await mkcalendar(`${home}${name}/`, properties)).status).toBe(201)
  for (const [uid, data] of Object.entries(OBJECTS)) {
    expect((await me.put(`${home}${name}/${uid}.ics`, data)).status).toBe(201)
  }
}

const at = (name: string) => calendarAt(me, `${home}${name}/`)
const found = (name: string, inner: string, zone?: string) => at(name).found(inner, { zone })

/** Eight to nine o'clock in the evening of 10 June in New York, in UTC. */
const EVENING = range('20260611T000000Z', '20260611T010000Z')
/** The first hours of 10 June in UTC, which is 9 June in New York. */
const EARLY = range('20260610T000000Z', '20260610T030000Z')

const broken = (rule: string) =>
  zone(
    'Evil',
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    'TZOFFSETFROM:+0100',
    'TZOFFSETTO:+0100',
    `RRULE:${rule}`,
    'END:STANDARD',
  )
const BROKEN: [string, string][] = [
  ['an empty text', ''],
  ['no calendar', 'Europe/Berlin'],
  ['a calendar that is cut off', NEW_YORK.slice(0, 200)],
  ['an event', event('x', '20260101T000000Z')],
  [
    'an event beside the zone',
    NEW_YORK.replace(/END:VCALENDAR/, 'BEGIN:VEVENT\r\nEND:VEVENT\r\n$&'),
  ],
  ['two zones', NEW_YORK.replace(/BEGIN:VTIMEZONE[\s\S]*END:VTIMEZONE\r\n/, '$&$&')],
  ['a zone without a name', NEW_YORK.replace(/TZID:.*\r\n/, '')],
  ['a zone without offsets', zone('Europe/Berlin')],
  ['a zone with a change without a time', TOKYO.replace(/DTSTART:.*\r\n/, '')],
  ['a zone that changes every second', broken('FREQ=SECONDLY')],
  ['a zone that never changes', broken('FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30')],
  ['a zone that changes every day', broken('FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU')],
  [
    'a zone of more than 64 KB',
    NEW_YORK.replace('END:VTIMEZONE', `X-A:${'x'.repeat(70_000)}\r\n$&`),
  ],
]

describe('a time zone is refused with valid-calendar-data, and the server goes on, for', () => {
  it.each(BROKEN)('%s', async (_title, text) => {
    const update = `<D:propertyupdate ${NAMESPACES}><D:set><D:prop><D:displayname>New</D:displayname>${timezone(text)}</D:prop></D:set></D:propertyupdate>`
    const [queried, created, changed] = await Promise.all([
      at('utc').query('', { zone: text }),
      mkcalendar(`${home}refused/`, timezone(text)),
      me.send('PROPPATCH', `${home}utc/`, { body: update }),
    ])
    expect([queried.status, created.status, changed.status]).toEqual([403, 403, 207])
    expect(changed.text).toContain('<C:calendar-timezone/></D:prop><D:status>HTTP/1.1 403 ')
    expect(changed.text).toContain(
      '<D:displayname/></D:prop><D:status>HTTP/1.1 424 Failed Dependency',
    )
    for (const answer of [queried, created, changed]) {
      expect(answer.text).toContain('<C:valid-calendar-data/>')
    }
    const { text: unchanged } = await me.propfind(`${home}utc/`, '<D:displayname/>')
    expect(unchanged).toContain('<D:displayname>x</D:displayname>')
    expect((await me.propfind(`${home}refused/`, '<D:displayname/>')).status).toBe(404)
  })
})

it("another account's calendar with a zone is not found", async () => {
  const globex = await own.dav.app.tenant('globex')
  const other = own.dav.client(globex.email)
  const asked = calendarQuery(ofEvents(EVENING), { zone: NEW_YORK })
  expect((await other.report(`${home}new-york/`, asked)).status).toBe(404)
})

describe('dates and times without a zone are found in', () => {
  it('UTC, without a zone', async () => {
    expect(await found('utc', ofEvents(EVENING))).toEqual([])
    expect(await found('utc', ofEvents(EARLY))).toEqual(['day'])
    expect(await found('utc', ofEvents(range('20260610T200000Z', '20260610T210000Z')))).toEqual([
      'day',
      'floating',
    ])
  })

  it('the zone of the calendar', async () => {
    expect(await found('new-york', ofEvents(EVENING))).toEqual(['day', 'floating'])
    expect(await found('new-york', ofEvents(EARLY))).toEqual([])
  })

  it('the zone of the query', async () => {
    expect(await found('utc', ofEvents(EVENING), NEW_YORK)).toEqual(['day', 'floating'])
    expect(await found('utc', ofEvents(EARLY), NEW_YORK)).toEqual([])
  })

  it('the zone of the query before that of the calendar', async () => {
    expect(await found('new-york', ofEvents(EVENING), TOKYO)).toEqual([])
    expect(await found('new-york', ofEvents(EARLY), TOKYO)).toEqual(['day'])
    expect(
      await found('new-york', ofEvents(range('20260609T150000Z', '20260609T150100Z'))),
    ).toEqual([])
    const midnight = range('20260609T150000Z', '20260609T150100Z')
    expect(await found('new-york', ofEvents(midnight), TOKYO)).toEqual(['day'])
  })

  it('UTC when the zone of the calendar was stored before zones were checked', async () => {
    await make('old')
    const properties = { [CALENDAR_TIMEZONE]: xmlOf(broken('FREQ=SECONDLY')) }
    await own.dav.app.core.db
      .updateTable('dav_collections')
      .set({ properties })
      .where('uri', '=', 'old')
      .execute()
    expect(await found('old', ofEvents(EVENING))).toEqual([])
    expect(await found('old', ofEvents(EARLY))).toEqual(['day'])
    await me.delete(`${home}old/`)
  })

  it('UTC again when the zone of the calendar is removed', async () => {
    await make('changing', NEW_YORK)
    const removal = `<D:propertyupdate ${NAMESPACES}><D:remove><D:prop><C:calendar-timezone/></D:prop></D:remove></D:propertyupdate>`
    await me.send('PROPPATCH', `${home}changing/`, { body: removal })
    expect(await found('changing', ofEvents(EVENING))).toEqual([])
  })
})

describe('in the zone of a calendar', () => {
  it.each([
    ['a day of 23 hours', '20260309T035900Z', '20260309T040000Z', ['short']],
    ['the end of a day of 23 hours', '20260309T040000Z', '20260309T050000Z', []],
    ['a day of 25 hours', '20261102T045900Z', '20261102T050000Z', ['long']],
    ['the end of a day of 25 hours', '20261102T050000Z', '20261102T060000Z', []],
    ['a recurring day in summer', '20261024T035900Z', '20261024T040000Z', ['weekly']],
    ['its end in summer', '20261024T040000Z', '20261024T050000Z', []],
    ['a recurring day in winter', '20261107T045900Z', '20261107T050000Z', ['weekly']],
    ['its end in winter', '20261107T050000Z', '20261107T060000Z', []],
    ['its start in winter', '20261113T040000Z', '20261113T050000Z', []],
  ])('%s is found by the hours of that day', async (_title, from, to, names) => {
    expect(await found('new-york', ofEvents(range(from, to)))).toEqual(names)
  })

  it('the alarm of a day rings', async () => {
    const nine = range('20260610T130000Z', '20260610T130001Z')
    const alarms = ofEvents(`<C:comp-filter name="VALARM">${nine}</C:comp-filter>`)
    expect(await found('new-york', alarms)).toEqual(['day'])
    expect(await found('utc', alarms)).toEqual([])
  })

  it('a task is due, and a property has its time', async () => {
    const due = range('20260612T030000Z', '20260612T050000Z')
    const tasks = `<C:comp-filter name="VTODO">${due}</C:comp-filter>`
    expect(await found('new-york', tasks)).toEqual(['task'])
    expect(await found('utc', tasks)).toEqual([])
    const start = range('20260611T000000Z', '20260611T000001Z')
    const property = ofEvents(`<C:prop-filter name="DTSTART">${start}</C:prop-filter>`)
    expect(await found('new-york', property)).toEqual(['floating'])
    expect(await found('utc', property)).toEqual([])
  })
})

it('expanded instances are those of the zone, and keep dates and times without a zone', async () => {
  const bounds = 'start="20261106T140000Z" end="20261106T143000Z"'
  const data = `<C:calendar-data><C:expand ${bounds}/></C:calendar-data>`
  const inner = ofEvents(range('20261106T140000Z', '20261106T143000Z'))
  const inTokyo = await at('utc').query(inner, { zone: TOKYO, data })
  expect(inTokyo.text.match(/(DTSTART|DTEND|RECURRENCE-ID);VALUE=DATE:\d+/g)).toEqual([
    'DTSTART;VALUE=DATE:20261106',
    'DTEND;VALUE=DATE:20261107',
    'RECURRENCE-ID;VALUE=DATE:20261106',
  ])
  const all = '<C:expand start="20260611T000000Z" end="20260611T010000Z"/>'
  const { text } = await at('new-york').get('floating', all)
  expect(text).toMatch(/DTSTART:20260610T200000&#13;/)
  expect((await at('new-york').get('floating', all, TOKYO)).text).not.toContain('DTSTART')
})

describe('busy times', () => {
  it('are those of the zone of each calendar', async () => {
    const busy = (name: string) => at(name).busy('20260610T000000Z', '20260612T000000Z')
    expect(await busy('utc')).toEqual(['20260610T000000Z/20260611T000000Z'])
    expect(await busy('new-york')).toEqual(['20260610T040000Z/20260611T040000Z'])
  })

  it('of another mailbox are those of the zones of its calendars', async () => {
    const path = `/dav/scheduling/${own.acme.accountId}/outbox/`
    const question = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'METHOD:REQUEST',
      'BEGIN:VFREEBUSY',
      'UID:1',
      'DTSTAMP:20260101T000000Z',
      'DTSTART:20261101T000000Z',
      'DTEND:20261103T000000Z',
      `ORGANIZER:mailto:${own.acme.email}`,
      `ATTENDEE:mailto:${own.acme.email}`,
      'END:VFREEBUSY',
      'END:VCALENDAR',
      '',
    ].join('\r\n')
    await me.delete(`${home}utc/long.ics`)
    await me.delete(`${home}changing/`)
    const headers = { 'content-type': 'text/calendar' }
    const { text } = await me.send('POST', path, { body: question, headers })
    expect(busyIn(text)).toEqual(['20261101T040000Z/20261102T050000Z'])
  })
})
