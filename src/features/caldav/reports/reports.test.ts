import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { card, type DavClient, event, hrefsIn, NAMESPACES } from '../../../../test/support/dav.ts'
import {
  calendarQuery,
  ofEvents,
  range,
  startCalendar,
} from '../../../../test/support/dav-calendar.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'
import { forgetDeletions } from '../store/objects.repository.ts'

let own: Awaited<ReturnType<typeof startCalendar>>
let me: DavClient
let calendar: string
let contacts: string
beforeAll(async () => {
  own = await startCalendar()
  me = own.me
  calendar = own.calendar.path
  contacts = `/dav/addressbooks/${own.acme.accountId}/contacts/`
  const objects = {
    single: event('single', '20260301T100000Z', 'DURATION:PT1H', 'SUMMARY:Dentist'),
    weekly: event('weekly', '20260105T090000Z', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY'),
    ended: event('ended', '20250105T090000Z', 'RRULE:FREQ=DAILY;UNTIL=20250110T090000Z'),
    allday: event('allday', ';VALUE=DATE:20260310').replace('DTSTART:;', 'DTSTART;'),
    zone: zoned(),
  }
  for (const [name, text] of Object.entries(objects)) await own.calendar.store(name, text)
})
afterAll(() => own.stop())

/** 23:30 on 14 March in a zone seven hours behind: 06:30 on 15 March in UTC. */
function zoned(): string {
  const zone = [
    'BEGIN:VTIMEZONE',
    'TZID:Own/Zone',
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    'TZOFFSETFROM:-0700',
    'TZOFFSETTO:-0700',
    'END:STANDARD',
    'END:VTIMEZONE',
  ].join('\r\n')
  return event('zone', '20260314T233000', 'DURATION:PT1H')
    .replace('DTSTART:', 'DTSTART;TZID=Own/Zone:')
    .replace('BEGIN:VEVENT', `${zone}\r\nBEGIN:VEVENT`)
}

const between = (start: string, end: string) => ofEvents(range(start, end))
const found = (inner: string) => own.calendar.found(inner)

describe('calendar-query', () => {
  it.each([
    ['20260301T000000Z', '20260302T000000Z', ['single']],
    ['20260302T000000Z', '20260303T000000Z', ['weekly']],
    ['20250106T000000Z', '20250107T000000Z', ['ended']],
    ['20250112T000000Z', '20250113T000000Z', []],
    ['20260310T120000Z', '20260310T130000Z', ['allday']],
    ['20260314T233000Z', '20260315T003000Z', []],
    ['20260315T060000Z', '20260315T063100Z', ['zone']],
    ['20300101T000000Z', '20300108T000000Z', ['weekly']],
  ])('finds what happens between %s and %s', async (start, end, names) => {
    expect(await found(between(start, end))).toEqual(names)
  })

  it('finds by text and by missing properties', async () => {
    const text = '<C:prop-filter name="SUMMARY"><C:text-match>dENT</C:text-match></C:prop-filter>'
    expect(await found(ofEvents(text))).toEqual(['single'])
    const none = '<C:prop-filter name="SUMMARY"><C:is-not-defined/></C:prop-filter>'
    expect(await found(ofEvents(none))).toHaveLength(4)
    expect(await found('<C:comp-filter name="VTODO"/>')).toEqual([])
  })

  it('returns the data as it was stored', async () => {
    const data = '<C:calendar-data/>'
    const inner = between('20260301T000000Z', '20260302T000000Z')
    const { text } = await own.calendar.query(inner, { data })
    expect(text.replaceAll('&#13;', '\r')).toContain('SUMMARY:Dentist\r\nEND:VEVENT')
  })

  it('returns the instances instead of the rule when it is asked to expand', async () => {
    const expand = '<C:expand start="20260301T000000Z" end="20260310T000000Z"/>'
    const data = `<C:calendar-data>${expand}</C:calendar-data>`
    const inner = between('20260302T000000Z', '20260309T000000Z')
    const { text } = await own.calendar.query(inner, { data })
    expect(text).not.toContain('RRULE')
    const days = ['20260302T090000Z', '20260309T090000Z']
    expect(text.match(/RECURRENCE-ID:\w+/g)).toEqual(days.map((day) => `RECURRENCE-ID:${day}`))
    expect(text.match(/DTSTART:\w+/g)).toEqual(days.map((day) => `DTSTART:${day}`))
  })

  it.each([
    [
      '<C:comp-filter name="VEVENT"><C:time-range start="tomorrow"/></C:comp-filter>',
      'C:valid-filter',
    ],
    ['<C:comp-filter name="VEVENT"><C:time-range/></C:comp-filter>', 'C:valid-filter'],
    ['<C:comp-filter name="X-OWN"/>', 'C:supported-filter'],
  ])('refuses the filter %s', async (inner, condition) => {
    const answer = await own.calendar.query(inner)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain(condition)
  })

  it('shows an object with more instances than its budget, and answers', async () => {
    const many = event('many', '19000101T000000Z', 'RRULE:FREQ=MINUTELY;COUNT=99999999')
    await own.calendar.store('many', many)
    expect(await found(between('20400101T000000Z', '20400101T000030Z'))).toContain('many')
    await me.delete(`${calendar}many.ics`)
  })
})

describe('free-busy-query', () => {
  const stamp = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')

  it('joins times that touch, however many events they are from', async () => {
    const start = Date.UTC(2031, 0, 1)
    for (let hour = 0; hour < 55; hour++) {
      const text = event(`hour-${hour}`, stamp(start + hour * HOUR_MS), 'DURATION:PT1H')
      await own.calendar.store(`hour-${hour}`, text)
    }
    const busy = await own.calendar.busy('20310101T000000Z', '20310104T000000Z')
    expect(busy).toEqual([`${stamp(start)}/${stamp(start + 55 * HOUR_MS)}`])
  })

  it('refuses a range with more than 10,000 times instead of leaving some out', async () => {
    const start = Date.UTC(2032, 0, 1)
    const parts = Array.from({ length: 11_000 }, (_none, at) =>
      [
        'BEGIN:VEVENT',
        'UID:many',
        'DTSTAMP:20260101T000000Z',
        `RECURRENCE-ID:${stamp(start + (at * HOUR_MS) / 2)}`,
        `DTSTART:${stamp(start + (at * HOUR_MS) / 2)}`,
        'DURATION:PT10M',
        'END:VEVENT',
      ].join('\r\n'),
    )
    const text = event('many', '20320101T000000Z').replace(
      /BEGIN:VEVENT[\s\S]*END:VEVENT/,
      parts.join('\r\n'),
    )
    await own.calendar.store('many', text)
    const ask = (end: string) =>
      me.report(
        calendar,
        `<C:free-busy-query ${NAMESPACES}><C:time-range start="20320101T000000Z" end="${end}"/></C:free-busy-query>`,
      )
    const refused = await ask('20321231T000000Z')
    expect(refused.status).toBe(507)
    expect(refused.text).toContain('<D:number-of-matches-within-limits/>')
    expect((await ask('20320102T000000Z')).text.match(/FREEBUSY:/g)).toHaveLength(48)
    expect((await me.delete(`${calendar}many.ics`)).status).toBe(204)
  })

  it('lists the busy times without what they are', async () => {
    await me.put(
      `${calendar}cancelled.ics`,
      event('cancelled', '20260301T120000Z', 'DURATION:PT1H', 'STATUS:CANCELLED'),
    )
    const body = `<C:free-busy-query ${NAMESPACES}><C:time-range start="20260301T000000Z" end="20260303T000000Z"/></C:free-busy-query>`
    const { text, status } = await me.report(calendar, body)
    expect(status).toBe(200)
    expect(text.match(/^FREEBUSY.*$/gm)?.map((line) => line.trim())).toEqual([
      'FREEBUSY:20260301T100000Z/20260301T110000Z',
      'FREEBUSY:20260302T090000Z/20260302T100000Z',
    ])
    expect(text).not.toContain('Dentist')
    await me.delete(`${calendar}cancelled.ics`)
  })
})

describe('calendar-multiget', () => {
  it('returns the named objects, and 404 for the others', async () => {
    const hrefs = ['single.ics', 'missing.ics'].map((name) => `<D:href>${calendar}${name}</D:href>`)
    const body = `<C:calendar-multiget ${NAMESPACES}><D:prop><D:getetag/></D:prop>${hrefs.join('')}</C:calendar-multiget>`
    const { text } = await me.report(calendar, body)
    expect(text).toContain(
      `<D:href>${calendar}missing.ics</D:href><D:status>HTTP/1.1 404 Not Found</D:status>`,
    )
    expect(hrefsIn(text)).toHaveLength(2)
  })
})

describe('sync-collection', () => {
  const sync = async (token: string, more = '') => {
    const body = `<D:sync-collection ${NAMESPACES}><D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level>${more}<D:prop><D:getetag/></D:prop></D:sync-collection>`
    const answer = await me.report(contacts, body)
    const [, next = ''] = /<D:sync-token>([^<]*)</.exec(answer.text) ?? []
    return { ...answer, next }
  }

  it('tells what was added, changed and deleted since a token', async () => {
    await me.put(`${contacts}a.vcf`, card('a', 'Anna'))
    await me.put(`${contacts}b.vcf`, card('b', 'Bert'))
    const first = await sync('')
    expect(hrefsIn(first.text)).toEqual([`${contacts}a.vcf`, `${contacts}b.vcf`])
    expect(hrefsIn((await sync(first.next)).text)).toEqual([])
    await me.put(`${contacts}a.vcf`, card('a', 'Anna Maria'))
    await me.delete(`${contacts}b.vcf`)
    const second = await sync(first.next)
    expect(hrefsIn(second.text)).toEqual([`${contacts}a.vcf`, `${contacts}b.vcf`])
    expect(second.text).toContain(`${contacts}b.vcf</D:href><D:status>HTTP/1.1 404 Not Found`)
    expect(hrefsIn((await sync('')).text)).toEqual([`${contacts}a.vcf`])
  })

  it('continues a cut answer with its token', async () => {
    for (const name of ['c', 'd', 'e']) await me.put(`${contacts}${name}.vcf`, card(name, name))
    const limit = '<D:limit><D:nresults>2</D:nresults></D:limit>'
    const seen: string[] = []
    let token = ''
    for (let part = 0; part < 3; part++) {
      const answer = await sync(token, limit)
      seen.push(...hrefsIn(answer.text).filter((path) => path !== contacts))
      token = answer.next
    }
    expect(seen.sort()).toEqual(['a', 'c', 'd', 'e'].map((name) => `${contacts}${name}.vcf`))
  })

  it('refuses tokens of others, of the future, and older than the kept deletions', async () => {
    const { next } = await sync('')
    const invalid = [next.replace(/\d+$/, '999999'), `${next}x`, 'http://other/1']
    for (const token of invalid) {
      expect(await sync(token)).toMatchObject({ status: 403 })
    }
    await me.delete(`${contacts}e.vcf`)
    expect((await sync(next)).status).toBe(207)
    await forgetDeletions(own.dav.app.core.db, new Date(own.dav.app.clock.now().getTime() + DAY_MS))
    const answer = await sync(next)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('<D:valid-sync-token/>')
  })
})

describe('addressbook-query', () => {
  it('finds contacts by text, and says when the answer is cut', async () => {
    await me.put(`${contacts}x.vcf`, card('x', 'Xaver', 'EMAIL;TYPE=WORK:xaver@globex.test'))
    const filter = (limit = '') =>
      `<A:addressbook-query ${NAMESPACES}><D:prop><A:address-data/></D:prop><A:filter><A:prop-filter name="EMAIL"><A:text-match match-type="ends-with">GLOBEX.test</A:text-match></A:prop-filter></A:filter>${limit}</A:addressbook-query>`
    const { text } = await me.report(contacts, filter())
    expect(hrefsIn(text)).toEqual([`${contacts}x.vcf`])
    expect(text).toContain('FN:Xaver')
    await me.put(`${contacts}y.vcf`, card('y', 'Y', 'EMAIL:y@globex.test'))
    const cut = await me.report(contacts, filter('<A:limit><A:nresults>1</A:nresults></A:limit>'))
    expect(cut.text).toContain('507 Insufficient Storage')
  })
})

describe('principal reports', () => {
  it('find the mailbox itself and no other', async () => {
    const search = (text: string) =>
      me.report(
        '/dav/principals/',
        `<D:principal-property-search ${NAMESPACES}><D:property-search><D:prop><D:displayname/></D:prop><D:match>${text}</D:match></D:property-search><D:prop><D:displayname/></D:prop></D:principal-property-search>`,
        '0',
      )
    const principal = `/dav/principals/${own.acme.accountId}/`
    expect(hrefsIn((await search('ADMIN')).text)).toEqual([principal])
    expect(hrefsIn((await search('nobody')).text)).toEqual([])
  })

  it('name the properties that a search may use', async () => {
    const body = `<D:principal-search-property-set ${NAMESPACES}/>`
    const { status, text } = await me.report('/dav/principals/', body, '0')
    expect(status).toBe(200)
    for (const name of ['D:displayname', 'C:calendar-user-address-set', 'S:email-address-set']) {
      expect(text).toContain(`<D:prop><${name}/></D:prop>`)
    }
  })

  it.each(['principal-property-search', 'principal-search-property-set'])(
    'refuse %s with another depth than 0',
    async (name) => {
      const answer = await me.report('/dav/principals/', `<D:${name} ${NAMESPACES}/>`, '1')
      expect(answer.status).toBe(400)
    },
  )
})

describe('a query of one object', () => {
  it('returns the object when it matches, and 404 when there is none', async () => {
    await me.put(`${calendar}one.ics`, event('one', '20260501T120000Z', 'SUMMARY:One'))
    const ask = (name: string, component: string) =>
      me.report(
        `${calendar}${name}.ics`,
        calendarQuery(`<C:comp-filter name="${component}"/>`),
        '0',
      )
    expect(hrefsIn((await ask('one', 'VEVENT')).text)).toEqual([`${calendar}one.ics`])
    expect(hrefsIn((await ask('one', 'VTODO')).text)).toEqual([])
    expect((await ask('absent', 'VEVENT')).status).toBe(404)
  })

  it('is announced by the object', async () => {
    const { text } = await me.propfind(`${calendar}one.ics`, '<D:supported-report-set/>')
    expect(text).toContain('<C:calendar-query/>')
    expect(text).not.toContain('<D:sync-collection/>')
  })
})
