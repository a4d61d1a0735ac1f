import { setTimeout as sleep } from 'node:timers/promises'
import { event } from '../../test/support/dav-objects.ts'
import { httpProgram, type Login } from './program.ts'

const MULTIGET = 50
const IDLE_MS = 10_000
const XML = { 'content-type': 'application/xml; charset=utf-8' }
const NAMES = 'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"'

export interface CalendarServer {
  name: string
  login: Login
  /** The path of a calendar that does not exist yet. */
  calendar: string
  cpuMs(): number
}

/** The CPU time of each operation in milliseconds, by its name. */
export async function calendarCosts(
  { login, calendar, cpuMs }: CalendarServer,
  events: number,
): Promise<Map<string, number>> {
  const http = httpProgram(login)
  const path = (number: number) => `${calendar}${number}.ics`
  await http.expect({ method: 'MKCALENDAR', path: calendar }, 201)
  const put = (number: number) =>
    http.expect(
      {
        method: 'PUT',
        path: path(number),
        body: event(`${number}@bench`, startOf(number), 'DURATION:PT1H', `SUMMARY:Event ${number}`),
        headers: { 'content-type': 'text/calendar; charset=utf-8' },
      },
      201,
    )
  const ask = (method: string, body: string, depth = '1') =>
    http.expect({ method, path: calendar, body, headers: { ...XML, depth } }, 207)
  const sync = (token: string) =>
    ask(
      'REPORT',
      `<D:sync-collection ${NAMES}><D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`,
      '0',
    )

  const costs = new Map<string, number>()
  const idle = await idlePart(cpuMs)
  const measure = async (name: string, count: number, work: (at: number) => Promise<unknown>) => {
    const begun = { cpu: cpuMs(), at: performance.now() }
    for (let at = 0; at < count; at++) await work(at)
    const besides = idle * (performance.now() - begun.at)
    costs.set(name, Math.max(0, cpuMs() - begun.cpu - besides) / count)
  }
  await measure('PUT of a new event', events, put)
  await measure('GET', events, (at) => http.expect({ method: 'GET', path: path(at) }, 200))
  await measure(`PROPFIND of ${events} etags`, events / 4, () =>
    ask('PROPFIND', `<D:propfind ${NAMES}><D:prop><D:getetag/></D:prop></D:propfind>`),
  )
  await measure('calendar-query of 2 days', events / 2, () => ask('REPORT', QUERY))
  const token = /sync-token>([^<]+)</.exec(await sync(''))?.[1] ?? ''
  await measure('sync-collection, nothing new', events / 2, () => sync(token))
  const hrefs = Array.from({ length: MULTIGET }, (_, at) => `<D:href>${path(at)}</D:href>`)
  await measure(`multiget of ${MULTIGET}`, events / 2, () =>
    ask(
      'REPORT',
      `<C:calendar-multiget ${NAMES}><D:prop><D:getetag/><C:calendar-data/></D:prop>${hrefs.join('')}</C:calendar-multiget>`,
    ),
  )
  http.end()
  return costs
}

/** The part of a core that a server takes without requests: ours also runs all other services. */
async function idlePart(cpuMs: () => number): Promise<number> {
  const begun = cpuMs()
  await sleep(IDLE_MS)
  return (cpuMs() - begun) / IDLE_MS
}

const startOf = (number: number) =>
  `202601${String(1 + (number % 28)).padStart(2, '0')}T${String(8 + (number % 10)).padStart(2, '0')}0000Z`

const QUERY = `<C:calendar-query ${NAMES}><D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="20260110T000000Z" end="20260112T000000Z"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`
