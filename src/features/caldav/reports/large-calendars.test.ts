import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../../../../test/support/app.ts'
import { startCountingProxy } from '../../../../test/support/counting-proxy.ts'
import {
  type DavClient,
  davClient,
  event,
  hrefsIn,
  startDav,
} from '../../../../test/support/dav.ts'
import {
  calendarAt,
  calendarQuery,
  ofEvents,
  range,
  startCalendar,
} from '../../../../test/support/dav-calendar.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { list, named } from '../store/objects.repository.ts'

const MB = 1024 * 1024
const LARGE = 12
const NOTES = `DESCRIPTION:${'notes '.repeat((4 * MB) / 6)}`
const DATA = '<D:getetag/><C:calendar-data/>'

let own: Awaited<ReturnType<typeof startCalendar>>
let proxy: Awaited<ReturnType<typeof startCountingProxy>>
let patient: Awaited<ReturnType<typeof startDav>>['app']
let impatient: Awaited<ReturnType<typeof startDav>>['app']
let me: DavClient
let names: string[]
beforeAll(async () => {
  own = await startCalendar()
  const url = new URL(own.dav.app.database.url)
  proxy = await startCountingProxy(Number(url.port))
  url.port = String(proxy.port)
  const database = { url: url.href }
  patient = (await startDav({}, database)).app
  impatient = (await startDav({ CALDAV_STALL_SECONDS: '1' }, database)).app
  me = davClient(patient, own.acme.email)
  names = Array.from({ length: LARGE }, (_none, at) => `large-${String(at).padStart(2, '0')}`)
  for (const name of names) {
    const text = event(name, '20260301T100000Z', 'DURATION:PT1H', NOTES)
    await own.calendar.store(name, text)
    // A small object is between two large ones.
    await own.calendar.store(`${name}-small`, event(`${name}-small`, '20260301T120000Z'))
  }
  names = names.flatMap((name) => [name, `${name}-small`])
})
afterAll(async () => {
  await impatient?.stop()
  await patient?.stop()
  await proxy?.stop()
  await own?.stop()
})

const open = new Set<IncomingMessage>()
afterEach(() => {
  for (const answer of open) answer.destroy()
  open.clear()
})

const authorizationOf = (email: string) =>
  `Basic ${Buffer.from(`${email}:${PASSWORD}`).toString('base64')}`

/** Starts a report over everything on a connection of its own; its answer is not read. */
function stalled(app: { base: string }): Promise<IncomingMessage> {
  const headers = {
    authorization: authorizationOf(own.acme.email),
    'content-type': 'application/xml',
    depth: '1',
  }
  const url = new URL(own.calendar.path, app.base)
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'REPORT', headers, agent: false }, (answer) => {
      open.add(answer.on('error', () => {}))
      resolve(answer)
    })
    sent.on('error', reject)
    sent.end(calendarQuery(ofEvents(''), { data: DATA }))
  })
}

describe('a calendar of 48 MB', () => {
  it('is read in batches of at most 8 MB, by its list and by names', async () => {
    const { db } = own.dav.app.core
    const { id } = await db
      .selectFrom('dav_collections')
      .select('id')
      .where('account_id', '=', own.acme.accountId)
      .where('uri', '=', 'calendar')
      .executeTakeFirstOrThrow()
    const files = names.map((name) => `${name}.ics`)
    for (const batches of [list(db, id, true), named(db, id, files, true)]) {
      const found: string[] = []
      for await (const rows of batches) {
        const bytes = rows.reduce((sum, { data = '' }) => sum + data.length, 0)
        expect(bytes).toBeLessThanOrEqual(8 * MB)
        found.push(...rows.map(({ uri }) => uri))
      }
      expect(found.sort()).toEqual(files.toSorted())
    }
  })

  it('is returned as a whole by every report', async () => {
    const calendar = calendarAt(me, own.calendar.path)
    expect(await calendar.found(ofEvents(''), { data: DATA })).toEqual(names)
    const inMarch = ofEvents(range('20260301T000000Z', '20260302T000000Z'))
    expect(await calendar.found(inMarch)).toEqual(names)
    const hrefs = [...names, 'missing'].map(
      (name) => `<D:href>${own.calendar.path}${name}.ics</D:href>`,
    )
    const multiget = await me.report(
      own.calendar.path,
      `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>${DATA}</D:prop>${hrefs.join('')}</C:calendar-multiget>`,
    )
    expect(hrefsIn(multiget.text)).toHaveLength(names.length + 1)
    const sync = await me.report(
      own.calendar.path,
      `<D:sync-collection xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop>${DATA}</D:prop></D:sync-collection>`,
    )
    expect(hrefsIn(sync.text)).toHaveLength(names.length)
    expect(sync.text).toContain('<D:sync-token>')
  })

  it('is read from the database as a slow client takes it', async () => {
    const before = proxy.bytes
    await stalled(patient)
    await waitFor(async () => {
      const read = proxy.bytes
      await me.propfind(own.calendar.path, '<D:displayname/>')
      return proxy.bytes - read < 100_000 && read > before
    })
    expect(proxy.bytes - before).toBeLessThan(30 * MB)
  })
})

describe('requests of one mailbox', () => {
  it('are limited to eight at once, and one that is refused says when to try again', async () => {
    await Promise.all(Array.from({ length: 8 }, () => stalled(patient)))
    const answer = await me.propfind(own.calendar.path, '<D:displayname/>')
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    const globex = await patient.tenant('globex')
    const neighbour = davClient(patient, globex.email)
    expect((await neighbour.propfind('/dav/', '<D:displayname/>')).status).toBe(207)
    for (const one of open) one.destroy()
    await waitFor(async () => (await me.propfind('/dav/', '<D:displayname/>')).status === 207)
  })

  it('leave no slot taken when their clients go away at any moment', async () => {
    const authorization = authorizationOf(own.acme.email)
    const text = `PUT ${own.calendar.path}x.ics HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: text/calendar\r\ncontent-length: 1000\r\n\r\nBEGIN`
    const { hostname, port } = new URL(patient.base)
    await Promise.all(
      Array.from({ length: 40 }, async (_none, at) => {
        const socket = connect(Number(port), hostname)
        await once(socket, 'connect')
        socket.write(text)
        if (at % 2 === 0) socket.resetAndDestroy()
        else socket.end()
        socket.on('error', () => {}).resume()
      }),
    )
    const statuses = async () =>
      Promise.all(
        Array.from({ length: 8 }, async () => (await me.propfind('/dav/', '<D:getetag/>')).status),
      )
    await waitFor(async () => (await statuses()).every((status) => status === 207))
  })

  it('end after CALDAV_STALL_SECONDS when their clients read nothing', async () => {
    const reports = Array.from({ length: 8 }, () => stalled(impatient))
    const answers = await Promise.all(reports)
    const other = davClient(impatient, own.acme.email)
    await waitFor(async () => (await other.propfind('/dav/', '<D:displayname/>')).status === 207)
    const outcomes = await Promise.allSettled(answers.map(readAll))
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
  })
})

async function readAll(answer: IncomingMessage): Promise<void> {
  for await (const _piece of answer);
}
