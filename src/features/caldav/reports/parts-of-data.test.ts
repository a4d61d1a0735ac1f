import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event } from '../../../../test/support/dav.ts'
import { startCalendar } from '../../../../test/support/dav-calendar.ts'

let own: Awaited<ReturnType<typeof startCalendar>>
beforeAll(async () => {
  own = await startCalendar()
  await own.calendar.store('whole', WHOLE)
})
afterAll(() => own.stop())

const WHOLE = event(
  'whole',
  '20260105T120000Z',
  'DURATION:PT1H',
  'SUMMARY;LANGUAGE=en:Secret',
  'BEGIN:VALARM',
  'ACTION:AUDIO',
  'TRIGGER:-PT5M',
  'END:VALARM',
)

const store = (name: string, text: string) => own.calendar.store(name, text)
const get = (name: string, part: string) => own.calendar.get(name, part)

/** The lines of the data that a report returns. */
async function lines(name: string, data: string): Promise<string[] | undefined> {
  const { text } = await get(name, data)
  const [, content = ''] = /<C:calendar-data>([\s\S]*)<\/C:calendar-data>/.exec(text) ?? []
  return content.replaceAll('&#13;', '').trimEnd().split('\n')
}

const range = 'start="20260107T000000Z" end="20260108T000000Z"'
const comp = (name: string, inner = '') => `<C:comp name="${name}">${inner}</C:comp>`

describe('a part of the data', () => {
  it.each(['expand', 'limit-recurrence-set', 'limit-freebusy-set'])(
    'of %s without an end is refused with 400',
    async (name) => {
      expect((await get('whole', `<C:${name} start="20260107T000000Z"/>`)).status).toBe(400)
    },
  )

  it('has the named properties and components, and no others', async () => {
    const inner = '<C:prop name="uid"/><C:prop name="SUMMARY"/>'
    const selection = comp('VCALENDAR', `<C:prop name="VERSION"/>${comp('VEVENT', inner)}`)
    expect(await lines('whole', selection)).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'BEGIN:VEVENT',
      'UID:whole',
      'SUMMARY;LANGUAGE=en:Secret',
      'END:VEVENT',
      'END:VCALENDAR',
    ])
  })

  it('has all properties or all components when they are asked for', async () => {
    const inner = `<C:prop name="UID"/><C:allcomp/>`
    const selection = comp('VCALENDAR', `<C:allprop/>${comp('VEVENT', inner)}`)
    expect(await lines('whole', selection)).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//test//EN',
      'BEGIN:VEVENT',
      'UID:whole',
      'BEGIN:VALARM',
      'ACTION:AUDIO',
      'TRIGGER:-PT5M',
      'END:VALARM',
      'END:VEVENT',
      'END:VCALENDAR',
    ])
  })

  it('is a whole component when nothing in it is named', async () => {
    const selection = comp('VCALENDAR', comp('VEVENT'))
    const found = await lines('whole', selection)
    expect(found).toEqual(
      WHOLE.trimEnd()
        .split('\r\n')
        .filter((line) => !/^(VERSION|PRODID)/.test(line)),
    )
    expect(await lines('whole', comp('VCALENDAR'))).toEqual(WHOLE.trimEnd().split('\r\n'))
  })

  it('has names and parameters without values when it is asked for them', async () => {
    const inner = '<C:prop name="SUMMARY" novalue="yes"/><C:prop name="DTSTART" novalue="yes"/>'
    const selection = comp('VCALENDAR', comp('VEVENT', inner))
    expect(await lines('whole', selection)).toEqual([
      'BEGIN:VCALENDAR',
      'BEGIN:VEVENT',
      'DTSTART:',
      'SUMMARY;LANGUAGE=en:',
      'END:VEVENT',
      'END:VCALENDAR',
    ])
  })
})

it('limit-recurrence-set leaves out exceptions that neither are nor were in the range', async () => {
  const exception = (id: string, start: string) =>
    /BEGIN:VEVENT[\s\S]*END:VEVENT\r\n/.exec(
      event('series', start, `RECURRENCE-ID:${id}`, 'DURATION:PT1H'),
    )?.[0]
  const exceptions = [
    exception('20260106T120000Z', '20260106T150000Z'),
    exception('20260107T120000Z', '20260120T120000Z'),
    exception('20260109T120000Z', '20260107T180000Z'),
  ]
  const master = event('series', '20260105T120000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=9')
  await store('series', master.replace('END:VCALENDAR', `${exceptions.join('')}END:VCALENDAR`))
  const found = await lines('series', `<C:limit-recurrence-set ${range}/>`)
  expect(found?.filter((line) => /^(RRULE|RECURRENCE-ID)/.test(line))).toEqual([
    'RRULE:FREQ=DAILY;COUNT=9',
    'RECURRENCE-ID:20260107T120000Z',
    'RECURRENCE-ID:20260109T120000Z',
  ])
})

it('limit-freebusy-set leaves out busy times beyond the range', async () => {
  const busy = [
    'FREEBUSY:20260106T120000Z/PT1H,20260107T120000Z/PT1H',
    'FREEBUSY;FBTYPE=BUSY-TENTATIVE:20260109T120000Z/20260109T130000Z',
  ]
  const text = event('busy', '20260101T000000Z', 'DTEND:20260201T000000Z', ...busy)
  await store('busy', text.replaceAll('VEVENT', 'VFREEBUSY'))
  const found = await lines('busy', `<C:limit-freebusy-set ${range}/>`)
  expect(found?.filter((line) => line.startsWith('FREEBUSY'))).toEqual([
    'FREEBUSY:20260107T120000Z/PT1H',
  ])
})
