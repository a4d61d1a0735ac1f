import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event, NAMESPACES } from '../../../../test/support/dav.ts'
import { range, startCalendar } from '../../../../test/support/dav-calendar.ts'

let own: Awaited<ReturnType<typeof startCalendar>>
beforeAll(async () => {
  own = await startCalendar()
})
afterAll(() => own.stop())

const query = (inner: string) => own.calendar.query(inner)
const found = (inner: string) => own.calendar.found(inner)
const store = (name: string, text: string) => own.calendar.store(name, text)

const RANGE = range('20260101T000000Z', '20260102T000000Z')

describe('an invalid filter (RFC 4791 section 7.8) is refused:', () => {
  it.each([
    [
      'a task in an event',
      '<C:comp-filter name="VEVENT"><C:comp-filter name="VTODO"/></C:comp-filter>',
    ],
    ['an alarm in a calendar', '<C:comp-filter name="VALARM"/>'],
    [
      'an event in an alarm',
      '<C:comp-filter name="VEVENT"><C:comp-filter name="VALARM"><C:comp-filter name="VEVENT"/></C:comp-filter></C:comp-filter>',
    ],
    ['a calendar in a calendar', '<C:comp-filter name="VCALENDAR"/>'],
    [
      'a time range of a summary',
      `<C:comp-filter name="VEVENT"><C:prop-filter name="SUMMARY">${RANGE}</C:prop-filter></C:comp-filter>`,
    ],
    ['a time range of a time zone', `<C:comp-filter name="VTIMEZONE">${RANGE}</C:comp-filter>`],
    ['a component without a name', '<C:comp-filter/>'],
    ['a property without a name', '<C:comp-filter name="VEVENT"><C:prop-filter/></C:comp-filter>'],
    [
      'a parameter without a name',
      '<C:comp-filter name="VEVENT"><C:prop-filter name="ATTENDEE"><C:param-filter/></C:prop-filter></C:comp-filter>',
    ],
    [
      'a missing component with a time',
      `<C:comp-filter name="VEVENT"><C:is-not-defined/>${RANGE}</C:comp-filter>`,
    ],
    [
      'a text of a component',
      '<C:comp-filter name="VEVENT"><C:text-match>x</C:text-match></C:comp-filter>',
    ],
    [
      'a time and a text of a property',
      `<C:comp-filter name="VEVENT"><C:prop-filter name="DTSTART">${RANGE}<C:text-match>x</C:text-match></C:prop-filter></C:comp-filter>`,
    ],
    ['two time ranges', `<C:comp-filter name="VEVENT">${RANGE}${RANGE}</C:comp-filter>`],
    [
      'a time range in local time',
      '<C:comp-filter name="VEVENT"><C:time-range start="20260101T000000"/></C:comp-filter>',
    ],
    [
      'a time range that ends before it starts',
      `<C:comp-filter name="VEVENT">${range('20260102T000000Z', '20260101T000000Z')}</C:comp-filter>`,
    ],
    [
      'a range of a parameter',
      `<C:comp-filter name="VEVENT"><C:prop-filter name="ATTENDEE"><C:param-filter name="CN">${RANGE}</C:param-filter></C:prop-filter></C:comp-filter>`,
    ],
    ['an unknown element', '<C:comp-filter name="VEVENT"><C:nonsense/></C:comp-filter>'],
  ])('%s', async (_title, inner) => {
    const { status, text } = await query(inner)
    expect(status).toBe(403)
    expect(text).toContain('<C:valid-filter/>')
  })

  it('a filter of two calendars, and one of something else', async () => {
    for (const filter of [
      '<C:comp-filter name="VCALENDAR"/><C:comp-filter name="VCALENDAR"/>',
      '<C:comp-filter name="VEVENT"/>',
      '<C:prop-filter name="SUMMARY"/>',
    ]) {
      const body = `<C:calendar-query ${NAMESPACES}><D:prop><D:getetag/></D:prop><C:filter>${filter}</C:filter></C:calendar-query>`
      const { status, text } = await own.me.report(own.calendar.path, body)
      expect(status, filter).toBe(403)
      expect(text, filter).toContain('<C:valid-filter/>')
    }
  })
})

it('a valid filter with elements of other standards is answered', async () => {
  const own = '<x:hint xmlns:x="urn:other">now</x:hint>'
  expect((await query(`<C:comp-filter name="VEVENT">${own}</C:comp-filter>`)).status).toBe(207)
  const zone = '<C:comp-filter name="VTIMEZONE"><C:comp-filter name="DAYLIGHT"/></C:comp-filter>'
  expect((await query(zone)).status).toBe(207)
})

/** RFC 4791 section 9.9: noon on 10 January, until two o'clock. */
const TASKS = {
  'start-duration': ['DTSTART:20260110T120000Z', 'DURATION:PT2H'],
  'start-due': ['DTSTART:20260110T120000Z', 'DUE:20260110T140000Z'],
  start: ['DTSTART:20260110T120000Z'],
  due: ['DUE:20260110T140000Z'],
  'created-completed': ['CREATED:20260110T120000Z', 'COMPLETED:20260110T140000Z'],
  completed: ['COMPLETED:20260110T140000Z'],
  created: ['CREATED:20260110T120000Z'],
  none: [],
}

describe('a task is found', () => {
  beforeAll(async () => {
    for (const [name, lines] of Object.entries(TASKS)) {
      const text = event(name, '', ...lines)
        .replace('DTSTART:\r\n', '')
        .replaceAll('VEVENT', 'VTODO')
      await store(name, text)
    }
  })

  // The bounds of each row of the table, from before the first to after the last.
  it.each([
    ['110000', '115900', ['none']],
    ['110000', '120000', ['created-completed', 'none']],
    [
      '110000',
      '120001',
      ['created', 'created-completed', 'none', 'start', 'start-due', 'start-duration'],
    ],
    [
      '120000',
      '120001',
      ['created', 'created-completed', 'none', 'start', 'start-due', 'start-duration'],
    ],
    ['120001', '130000', ['created', 'created-completed', 'none', 'start-due', 'start-duration']],
    [
      '130000',
      '140000',
      ['completed', 'created', 'created-completed', 'due', 'none', 'start-due', 'start-duration'],
    ],
    ['140000', '150000', ['completed', 'created', 'created-completed', 'none', 'start-duration']],
    ['140001', '150000', ['created', 'none']],
  ])('between %s and %s by the table of its times', async (from, to, names) => {
    const times = range(`20260110T${from}Z`, `20260110T${to}Z`)
    expect(await found(`<C:comp-filter name="VTODO">${times}</C:comp-filter>`)).toEqual(names)
  })
})

it('a journal is found by its start, and not without one', async () => {
  await store('dated', event('dated', '20260410T120000Z').replaceAll('VEVENT', 'VJOURNAL'))
  const text = event('undated', '').replace('DTSTART:\r\n', '').replaceAll('VEVENT', 'VJOURNAL')
  await store('undated', text)
  const times = range('20260410T000000Z', '20260411T000000Z')
  expect(await found(`<C:comp-filter name="VJOURNAL">${times}</C:comp-filter>`)).toEqual(['dated'])
})

describe('an alarm is found', () => {
  const alarm = (...lines: string[]) => ['BEGIN:VALARM', 'ACTION:AUDIO', ...lines, 'END:VALARM']
  beforeAll(async () => {
    const at = '20260601T120000Z'
    const hour = 'DURATION:PT1H'
    const alarms = {
      before: alarm('TRIGGER:-PT30M'),
      after: alarm('TRIGGER;RELATED=END:PT30M'),
      absolute: alarm('TRIGGER;VALUE=DATE-TIME:20260601T080000Z'),
      repeated: alarm('TRIGGER:-PT6H', 'REPEAT:3', 'DURATION:PT10M'),
      weekly: ['RRULE:FREQ=WEEKLY', ...alarm('TRIGGER:-PT15M')],
    }
    for (const [name, lines] of Object.entries(alarms)) {
      await store(`alarm-${name}`, event(`alarm-${name}`, at, hour, ...lines))
    }
  })

  it.each([
    ['20260601T060000Z', '20260601T060001Z', ['repeated']],
    ['20260601T060001Z', '20260601T061000Z', []],
    ['20260601T061001Z', '20260601T062001Z', ['repeated']],
    ['20260601T063000Z', '20260601T063001Z', ['repeated']],
    ['20260601T063001Z', '20260601T075959Z', []],
    ['20260601T080000Z', '20260601T080001Z', ['absolute']],
    ['20260601T113000Z', '20260601T113001Z', ['before']],
    ['20260601T114500Z', '20260601T114501Z', ['weekly']],
    ['20260608T114500Z', '20260608T114501Z', ['weekly']],
    ['20260601T133000Z', '20260601T133001Z', ['after']],
  ])('between %s and %s when it rings then, once or again', async (from, to, names) => {
    const inner = `<C:comp-filter name="VALARM">${range(from, to)}</C:comp-filter>`
    const expected = names.map((name) => `alarm-${name}`)
    expect(await found(`<C:comp-filter name="VEVENT">${inner}</C:comp-filter>`)).toEqual(expected)
  })
})
