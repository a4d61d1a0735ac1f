import { expect } from 'vitest'
import { type DavClient, hrefsIn, NAMESPACES, startDav } from './dav.ts'

export const xmlOf = (text: string) => text.replaceAll('\r', '&#13;')

export const range = (start: string, end: string) => `<C:time-range start="${start}" end="${end}"/>`

/** The part of a filter that is about events. */
export const ofEvents = (inner: string) => `<C:comp-filter name="VEVENT">${inner}</C:comp-filter>`

interface Asked {
  data?: string
  /** The time zone of the query. */
  zone?: string | undefined
}

/** A calendar query for the objects that meet a filter. */
export function calendarQuery(inner: string, { data = '<D:getetag/>', zone }: Asked = {}): string {
  const filter = `<C:filter><C:comp-filter name="VCALENDAR">${inner}</C:comp-filter></C:filter>`
  return `<C:calendar-query ${NAMESPACES}><D:prop>${data}</D:prop>${filter}${zoneOf(zone)}</C:calendar-query>`
}

const zoneOf = (zone: string | undefined) =>
  zone === undefined ? '' : `<C:timezone>${xmlOf(zone)}</C:timezone>`

/** The times of an answer about busy times. */
export const busyIn = (text: string) =>
  text.match(/FREEBUSY:\w+\/\w+/g)?.map((line) => line.slice('FREEBUSY:'.length))

/** A calendar with the requests that tests of reports send to it. */
export function calendarAt(me: DavClient, path: string) {
  const query = (inner: string, asked?: Asked) => me.report(path, calendarQuery(inner, asked))
  return {
    path,
    async store(name: string, text: string): Promise<void> {
      expect((await me.put(`${path}${name}.ics`, text)).status).toBe(201)
    },
    query,
    /** The names of the objects that meet a filter. */
    async found(inner: string, asked?: Asked): Promise<string[]> {
      const { status, text } = await query(inner, asked)
      expect(status, text).toBe(207)
      return hrefsIn(text)
        .map((href) => href.slice(path.length, -'.ics'.length))
        .sort()
    },
    /** One object with the wanted part of its data. */
    get: (name: string, part: string, zone?: string) =>
      me.report(
        path,
        `<C:calendar-multiget ${NAMESPACES}><D:prop><C:calendar-data>${part}</C:calendar-data></D:prop>${zoneOf(zone)}<D:href>${path}${name}.ics</D:href></C:calendar-multiget>`,
      ),
    /** The busy times of a range. */
    async busy(start: string, end: string): Promise<string[] | undefined> {
      const body = `<C:free-busy-query ${NAMESPACES}>${range(start, end)}</C:free-busy-query>`
      return busyIn((await me.report(path, body)).text)
    },
  }
}

/** An app with a holder and the calendar that every mailbox has. */
export async function startCalendar() {
  const dav = await startDav()
  const acme = await dav.app.tenant('acme')
  const me = dav.client(acme.email)
  const calendar = calendarAt(me, `/dav/calendars/${acme.accountId}/calendar/`)
  await me.propfind(calendar.path, '<D:displayname/>')
  return { dav, acme, me, calendar, stop: dav.stop }
}
