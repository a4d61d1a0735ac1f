import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event, NEW_YORK } from '../../../../test/support/dav.ts'
import { ofEvents, range, startCalendar } from '../../../../test/support/dav-calendar.ts'

let own: Awaited<ReturnType<typeof startCalendar>>
beforeAll(async () => {
  own = await startCalendar()
})
afterAll(() => own.stop())

const componentOf = (text: string) => /BEGIN:VEVENT[\s\S]*END:VEVENT\r\n/.exec(text)?.[0] ?? ''

/** An event with exceptions, in one object. */
const series = (master: string, ...exceptions: string[]) =>
  master.replace('END:VCALENDAR', `${exceptions.map(componentOf).join('')}END:VCALENDAR`)

const found = (from: string, to: string) => own.calendar.found(ofEvents(range(from, to)))
const store = (name: string, text: string) => own.calendar.store(name, text)

async function expanded(name: string, from: string, to: string): Promise<string> {
  return (await own.calendar.get(name, `<C:expand start="${from}" end="${to}"/>`)).text
}

describe('an exception for an instance and all later ones (RFC 5545 section 3.2.13)', () => {
  beforeAll(async () => {
    const ALARM = ['BEGIN:VALARM', 'ACTION:AUDIO', 'TRIGGER:-PT5M', 'END:VALARM']
    // Every day at noon for a week; from the fourth two hours earlier, from the sixth at 15:00.
    const master = event(
      'future',
      '20260105T120000Z',
      'DURATION:PT1H',
      'RRULE:FREQ=DAILY;UNTIL=20260111T120000Z',
    )
    const later = (id: string, start: string, ...lines: string[]) =>
      event('future', start, `RECURRENCE-ID;RANGE=THISANDFUTURE:${id}`, ...lines)
    await store(
      'future',
      series(
        master,
        later('20260110T120000Z', '20260110T150000Z', 'DURATION:PT30M', ...ALARM),
        later('20260108T120000Z', '20260108T100000Z', 'DURATION:PT1H', 'SUMMARY:Early'),
        event('future', '20260109T200000Z', 'RECURRENCE-ID:20260109T120000Z', 'DURATION:PT1H'),
      ),
    )
  })

  it('moves all instances from there to the next exception, and none before', async () => {
    const text = await expanded('future', '20260101T000000Z', '20260201T000000Z')
    expect(text.match(/DTSTART:\w+/g)?.sort()).toEqual(
      [
        '20260105T120000Z',
        '20260106T120000Z',
        '20260107T120000Z',
        '20260108T100000Z',
        '20260109T200000Z',
        '20260110T150000Z',
        '20260111T150000Z',
      ].map((start) => `DTSTART:${start}`),
    )
    expect(text).not.toContain('RANGE')
    expect(text.match(/SUMMARY:Early/g)).toHaveLength(1)
  })

  it('is found by its own time and length, not by that of the rule', async () => {
    expect(await found('20260111T150000Z', '20260111T152900Z')).toEqual(['future'])
    expect(await found('20260111T153000Z', '20260111T160000Z')).toEqual([])
    expect(await found('20260111T120000Z', '20260111T130000Z')).toEqual([])
  })

  it('is found by its own properties at its own times only', async () => {
    const named = '<C:prop-filter name="SUMMARY"><C:text-match>Early</C:text-match></C:prop-filter>'
    const isFound = async (from: string, to: string) =>
      (await own.calendar.found(ofEvents(range(from, to) + named))).length > 0
    expect(await isFound('20260108T100000Z', '20260108T110000Z')).toBe(true)
    expect(await isFound('20260105T120000Z', '20260105T130000Z')).toBe(false)
    expect(await isFound('20260111T150000Z', '20260111T160000Z')).toBe(false)
  })

  it('has its own alarms only', async () => {
    const alarm = (inner: string) =>
      ofEvents(`<C:comp-filter name="VALARM">${inner}</C:comp-filter>`)
    const rings = async (from: string, to: string) =>
      (await own.calendar.found(alarm(range(from, to)))).length > 0
    expect(await rings('20260111T145500Z', '20260111T145600Z')).toBe(true)
    expect(await rings('20260106T115500Z', '20260106T115600Z')).toBe(false)
  })

  it('is busy at its own time', async () => {
    expect(await own.calendar.busy('20260111T000000Z', '20260112T000000Z')).toEqual([
      '20260111T150000Z/20260111T153000Z',
    ])
  })

  it('keeps its local time when the clock changes, and may lie beyond the end of the rule', async () => {
    const zone = /BEGIN:VTIMEZONE[\s\S]*END:VTIMEZONE\r\n/.exec(NEW_YORK)?.[0] ?? ''
    const local = (text: string) =>
      text
        .replace('DTSTART:', 'DTSTART;TZID=America/New_York:')
        .replace('BEGIN:VEVENT', `${zone}$&`)
    const rule = 'RRULE:FREQ=WEEKLY;UNTIL=20261107T140000Z'
    const moved = event(
      'local',
      '20261027T080000',
      'RECURRENCE-ID;RANGE=THISANDFUTURE:20261024T130000Z',
      'DURATION:PT1H',
    )
    await store(
      'local',
      series(local(event('local', '20261017T090000', 'DURATION:PT1H', rule)), local(moved)),
    )
    // Nine o'clock on Saturdays became eight o'clock on Tuesdays; in November that is 13:00 in UTC.
    const text = await expanded('local', '20261001T000000Z', '20261201T000000Z')
    expect(text.match(/DTSTART:\w+/g)?.sort()).toEqual([
      'DTSTART:20261017T130000Z',
      'DTSTART:20261027T120000Z',
      'DTSTART:20261103T130000Z',
      'DTSTART:20261110T130000Z',
    ])
    expect(await found('20261110T130000Z', '20261110T130100Z')).toEqual(['local'])
  })
})
