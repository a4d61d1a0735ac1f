import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PASSWORD } from '../../../../test/support/app.ts'
import type { DavClient } from '../../../../test/support/dav.ts'
import { event } from '../../../../test/support/dav-objects.ts'
import { calendarIn, meeting, startInvitations } from '../../../../test/support/invitations.ts'
import { ACCOUNTS } from '../../../../test/support/mailboxes.ts'
import { waitFor } from '../../../../test/support/wait.ts'

let host: Awaited<ReturnType<typeof startInvitations>>
let acme: Awaited<ReturnType<typeof host.app.tenant>>
let jane: DavClient
let home: string
const BOB = 'bob@elsewhere.test'
const EVE = 'eve@elsewhere.test'
beforeAll(async () => {
  host = await startInvitations()
  acme = await host.app.tenant('acme')
  jane = host.client(acme.email)
  home = `/dav/calendars/${acme.accountId}/calendar/`
})
afterAll(() => host.stop())
beforeEach(() => {
  host.sent.received.length = 0
  host.sent.state.mood = 'well'
})

const waiting = () =>
  host.app.core.db.selectFrom('calendar_mail').select(['method', 'recipient']).execute()
const nothingWaits = () => waitFor(async () => (await waiting()).length === 0)
/** The messages of a change, by recipient and method. */
async function sentAfter(change: () => Promise<{ status: number; text: string }>) {
  host.sent.received.length = 0
  const { status, text } = await change()
  expect(status, text).toBeLessThan(300)
  await nothingWaits()
  return host.sent.received.map(({ recipients: [to], content, sender }) => {
    const calendar = calendarIn(content)
    return { to, sender, content, calendar, method: /METHOD:(\w+)/.exec(calendar)?.[1] }
  })
}
const brief = (messages: { to: string | undefined; method: string | undefined }[]) =>
  messages.map(({ to, method }) => `${method} ${to}`).sort()

describe('no message is sent', () => {
  it('for an event without attendees, or with the organizer alone', async () => {
    expect(await sentAfter(() => jane.put(`${home}a.ics`, event('a', '20261201T100000Z')))).toEqual(
      [],
    )
    const alone = meeting('b', acme.email, [acme.email])
    expect(await sentAfter(() => jane.put(`${home}b.ics`, alone))).toEqual([])
  })

  it('when another organizer would be the sender', async () => {
    const foreign = meeting('c', 'boss@elsewhere.test', [BOB])
    expect(await sentAfter(() => jane.put(`${home}c.ics`, foreign))).toEqual([])
    const globex = await host.app.tenant('globex')
    const neighbour = meeting('c2', globex.email, [BOB])
    expect(await sentAfter(() => jane.put(`${home}c2.ics`, neighbour))).toEqual([])
  })

  it('to an attendee whose messages are the task of the client or of nobody', async () => {
    const text = meeting('d', acme.email, [
      `ATTENDEE;SCHEDULE-AGENT=CLIENT:mailto:${BOB}`,
      `ATTENDEE;SCHEDULE-AGENT=NONE:mailto:${EVE}`,
      'ATTENDEE:urn:uuid:5',
    ])
    expect(await sentAfter(() => jane.put(`${home}d.ics`, text))).toEqual([])
    expect(await sentAfter(() => jane.delete(`${home}d.ics`))).toEqual([])
  })

  it('when a change is no news for the attendees', async () => {
    const first = meeting('e', acme.email, [BOB])
    expect(await sentAfter(() => jane.put(`${home}e.ics`, first))).toHaveLength(1)
    const alarm = ['BEGIN:VALARM', 'ACTION:DISPLAY', 'TRIGGER:-PT5M', 'END:VALARM']
    const quiet = meeting('e', acme.email, [BOB], 'X-COLOR:red', ...alarm)
    expect(await sentAfter(() => jane.put(`${home}e.ics`, quiet))).toEqual([])
  })

  it('when the change is refused', async () => {
    const text = meeting('f', acme.email, [BOB])
    const refused = await jane.put(`${home}f.ics`, text, { 'if-match': '"other"' })
    expect(refused.status).toBe(412)
    expect(await waiting()).toEqual([])
    expect(host.sent.received).toEqual([])
  })

  it('when an event is moved to another calendar', async () => {
    await sentAfter(() => jane.put(`${home}g.ics`, meeting('g', acme.email, [BOB])))
    const other = `/dav/calendars/${acme.accountId}/work/`
    expect((await jane.send('MKCALENDAR', other)).status).toBe(201)
    const destination = `${other}g.ics`
    const move = () => jane.send('MOVE', `${home}g.ics`, { headers: { destination } })
    expect(await sentAfter(move)).toEqual([])
  })
})

describe('an organizer', () => {
  it('is refused two organizers, too many attendees and a second copy in another calendar', async () => {
    const two = meeting('h', acme.email, [BOB], 'RRULE:FREQ=DAILY;COUNT=3').replace(
      'END:VCALENDAR',
      'BEGIN:VEVENT\r\nUID:h\r\nRECURRENCE-ID:20261202T100000Z\r\nDTSTART:20261202T110000Z\r\nORGANIZER:mailto:x@y.test\r\nEND:VEVENT\r\nEND:VCALENDAR',
    )
    const mixed = await jane.put(`${home}h.ics`, two)
    expect(mixed.status).toBe(403)
    expect(mixed.text).toContain('same-organizer-in-all-components')
    const crowd = Array.from({ length: 201 }, (_, at) => `p${at}@elsewhere.test`)
    const large = await jane.put(`${home}h.ics`, meeting('h', acme.email, crowd))
    expect(large.status).toBe(403)
    expect(large.text).toContain('max-attendees-per-instance')
    await sentAfter(() => jane.put(`${home}h.ics`, meeting('h', acme.email, [BOB])))
    const second = `/dav/calendars/${acme.accountId}/second/`
    await jane.send('MKCALENDAR', second)
    const copy = await jane.put(`${second}h.ics`, meeting('h', acme.email, [BOB]))
    expect(copy.status).toBe(403)
    expect(copy.text).toContain('unique-scheduling-object-resource')
    expect(copy.text).toContain(`${home}h.ics`)
  })

  it('invites with a mail that programs show as an invitation', async () => {
    const text = meeting(
      'i',
      acme.email,
      [acme.email, BOB, `ATTENDEE;CN="Ü":mailto:${EVE}`],
      'SEQUENCE:3',
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'TRIGGER:-PT5M',
      'END:VALARM',
    )
    const messages = await sentAfter(() => jane.put(`${home}i.ics`, text))
    expect(brief(messages)).toEqual([`REQUEST ${BOB}`, `REQUEST ${EVE}`])
    const [{ content, calendar, sender } = { content: '', calendar: '', sender: '' }] = messages
    expect(sender).toBe(acme.email)
    expect(content).toContain(`From: "Organizer" <${acme.email}>`)
    expect(content).toContain('Subject: Invitation: Budget')
    expect(content).toMatch(/Message-ID: <[0-9a-z]{26}\.calendar@/)
    expect(content).toContain('Content-Type: text/calendar; charset=utf-8; method=REQUEST')
    expect(content).toContain('filename="invite.ics"')
    expect(calendar).toContain('SEQUENCE:3')
    expect(calendar).not.toContain('VALARM')
    expect(calendar).not.toContain('DTSTAMP:20261101')
    // The stored object is what the client sent.
    expect((await jane.get(`${home}i.ics`)).text).toBe(text)
  })

  it('sends changes to all, an invitation to new and a cancellation to removed attendees', async () => {
    await sentAfter(() => jane.put(`${home}j.ics`, meeting('j', acme.email, [BOB])))
    const added = meeting('j', acme.email, [BOB, EVE])
    expect(brief(await sentAfter(() => jane.put(`${home}j.ics`, added)))).toEqual([
      `REQUEST ${EVE}`,
    ])
    const moved = meeting('j', acme.email, [BOB, EVE], 'DTSTART:20261202T100000Z', 'SEQUENCE:1')
    const changes = await sentAfter(() => jane.put(`${home}j.ics`, moved))
    expect(brief(changes)).toEqual([`REQUEST ${BOB}`, `REQUEST ${EVE}`])
    expect(changes[0]?.content).toContain('Subject: Updated invitation: Budget')
    const fewer = moved.replace(/ATTENDEE[^\r]*eve@[^\r]*\r\n/, '')
    const [gone, ...others] = await sentAfter(() => jane.put(`${home}j.ics`, fewer))
    expect(others).toEqual([])
    expect(brief([gone as NonNullable<typeof gone>])).toEqual([`CANCEL ${EVE}`])
    expect(gone?.calendar).toContain('STATUS:CANCELLED')
    expect(gone?.calendar).toContain('SEQUENCE:2')
    expect(gone?.calendar).not.toContain(BOB)
    // A conversation: cancelled for all by its status, then deleted.
    const off = fewer.replace('SUMMARY', 'STATUS:CANCELLED\r\nSUMMARY')
    expect(brief(await sentAfter(() => jane.put(`${home}j.ics`, off)))).toEqual([`CANCEL ${BOB}`])
    expect(await sentAfter(() => jane.delete(`${home}j.ics`))).toEqual([])
  })

  it('cancels by deleting, also with the wish for silence of an attendee', async () => {
    await sentAfter(() => jane.put(`${home}k.ics`, meeting('k', acme.email, [BOB])))
    const messages = await sentAfter(() => jane.delete(`${home}k.ics`, { 'schedule-reply': 'F' }))
    expect(brief(messages)).toEqual([`CANCEL ${BOB}`])
    expect(messages[0]?.calendar).toContain('SEQUENCE:1')
  })

  it('cancels what is not over by deleting a calendar', async () => {
    const trips = `/dav/calendars/${acme.accountId}/trips/`
    expect((await jane.send('MKCALENDAR', trips)).status).toBe(201)
    const past = meeting('p1', acme.email, [EVE], 'DTSTART:20061201T100000Z')
    await sentAfter(() => jane.put(`${trips}p1.ics`, past))
    const next = meeting('p2', acme.email, [BOB], 'DTSTART:20991201T100000Z')
    await sentAfter(() => jane.put(`${trips}p2.ics`, next))
    expect(brief(await sentAfter(() => jane.delete(trips)))).toEqual([`CANCEL ${BOB}`])
    expect((await jane.get(`${trips}p2.ics`)).status).toBe(404)
  })

  it('invites to one instance of a series alone', async () => {
    const series = meeting('l', acme.email, [BOB], 'RRULE:FREQ=DAILY;COUNT=3')
    const instance = meeting('l', acme.email, [EVE], 'RECURRENCE-ID:20261202T100000Z')
    const [, vevent = ''] = /(BEGIN:VEVENT[\s\S]*END:VEVENT\r\n)/.exec(instance) ?? []
    const both = series.replace('END:VCALENDAR', `${vevent}END:VCALENDAR`)
    const messages = await sentAfter(() => jane.put(`${home}l.ics`, both))
    const toBob = messages.find(({ to }) => to === BOB)?.calendar
    const toEve = messages.find(({ to }) => to === EVE)?.calendar
    expect(toBob).toContain('EXDATE:20261202T100000Z')
    expect(toBob).not.toContain('RECURRENCE-ID')
    expect(toEve).toContain('RECURRENCE-ID:20261202T100000Z')
    expect(toEve).not.toContain('RRULE')
    const dropped = await sentAfter(() => jane.put(`${home}l.ics`, series))
    expect(brief(dropped)).toEqual([`CANCEL ${EVE}`, `REQUEST ${BOB}`])
  })

  it('may be an alias that leads to the mailbox', async () => {
    const alias = { source: 'office@acme.test', destination: acme.email }
    expect((await acme.post('/api/v1/aliases/add', alias)).status).toBe(200)
    const text = meeting('m', 'office@acme.test', [BOB])
    const [message] = await sentAfter(() => jane.put(`${home}m.ics`, text))
    expect(message).toMatchObject({ sender: 'office@acme.test', method: 'REQUEST', to: BOB })
  })
})

describe('an attendee', () => {
  const boss = 'boss@elsewhere.test'
  const answer = (uid: string, status: string, ...lines: string[]) =>
    meeting(uid, boss, [`ATTENDEE;PARTSTAT=${status}:mailto:${acme.email}`, BOB], ...lines)

  it('replies once for each new answer', async () => {
    expect(await sentAfter(() => jane.put(`${home}n.ics`, answer('n', 'NEEDS-ACTION')))).toEqual([])
    const messages = await sentAfter(() => jane.put(`${home}n.ics`, answer('n', 'ACCEPTED')))
    expect(brief(messages)).toEqual([`REPLY ${boss}`])
    expect(messages[0]?.sender).toBe(acme.email)
    expect(messages[0]?.content).toContain('Subject: Accepted: Budget')
    expect(messages[0]?.calendar).toContain(`PARTSTAT=ACCEPTED:mailto:${acme.email}`)
    expect(messages[0]?.calendar).not.toContain(BOB)
    expect(await sentAfter(() => jane.put(`${home}n.ics`, answer('n', 'ACCEPTED')))).toEqual([])
  })

  it('declines by deleting, unless it asks for silence, has declined, or the event is off', async () => {
    const store = (uid: string, status: string, ...lines: string[]) =>
      sentAfter(() => jane.put(`${home}${uid}.ics`, answer(uid, status, ...lines)))
    await store('o', 'ACCEPTED')
    const [message] = await sentAfter(() => jane.delete(`${home}o.ics`))
    expect(message?.calendar).toContain('PARTSTAT=DECLINED')
    await store('p', 'ACCEPTED')
    expect(await sentAfter(() => jane.delete(`${home}p.ics`, { 'schedule-reply': 'F' }))).toEqual(
      [],
    )
    await store('q', 'DECLINED')
    expect(await sentAfter(() => jane.delete(`${home}q.ics`))).toEqual([])
    await store('r', 'ACCEPTED', 'STATUS:CANCELLED')
    expect(await sentAfter(() => jane.delete(`${home}r.ics`))).toEqual([])
  })

  it('declines one instance of a series by leaving it out', async () => {
    const rule = 'RRULE:FREQ=DAILY;COUNT=3'
    await sentAfter(() => jane.put(`${home}s.ics`, answer('s', 'ACCEPTED', rule)))
    const without = answer('s', 'ACCEPTED', rule, 'EXDATE:20261202T100000Z')
    const [message, ...others] = await sentAfter(() => jane.put(`${home}s.ics`, without))
    expect(others).toEqual([])
    expect(message?.calendar).toContain('PARTSTAT=DECLINED')
    expect(message?.calendar).toContain('RECURRENCE-ID:20261202T100000Z')
  })

  it('sends nothing when replies are the task of the client', async () => {
    const text = answer('t', 'ACCEPTED').replace('ORGANIZER;', 'ORGANIZER;SCHEDULE-AGENT=CLIENT;')
    expect(await sentAfter(() => jane.put(`${home}t.ics`, text))).toEqual([])
  })
})

describe('the way to the mail server', () => {
  /** Waits for the end of a failed attempt to send. */
  const attempted = () =>
    waitFor(async () => {
      const rows = await host.app.core.db.selectFrom('calendar_mail').selectAll().execute()
      return rows.find(({ attempts }) => attempts > 0)
    })

  it('retries while the mail server fails, with the same Message-ID and in order', async () => {
    host.sent.state.mood = 'drops'
    expect((await jane.put(`${home}u.ics`, meeting('u', acme.email, [BOB]))).status).toBe(201)
    const { content } = await attempted()
    expect((await jane.delete(`${home}u.ics`)).status).toBe(204)
    host.sent.state.mood = 'well'
    host.sent.received.length = 0
    host.app.clock.advance(60_000)
    await nothingWaits()
    const methods = host.sent.received.map(
      ({ content }) => /METHOD:(\w+)/.exec(calendarIn(content))?.[1],
    )
    expect(methods).toEqual(['REQUEST', 'CANCEL'])
    expect(host.sent.received[0]?.content).toBe(content)
    host.app.clock.reset()
  })

  it('notes a refused recipient in the calendar of the organizer', async () => {
    host.sent.state.mood = 'refuses'
    const text = meeting('v', acme.email, [BOB])
    const { headers } = await jane.put(`${home}v.ics`, text)
    await nothingWaits()
    const after = await jane.get(`${home}v.ics`)
    expect(after.text).toContain('SCHEDULE-STATUS=5.1')
    expect(after.headers.etag).not.toBe(headers.etag)
    expect(after.headers['schedule-tag']).toBe(headers['schedule-tag'])
  })

  it('does not send for a mailbox that may not send as the organizer any more', async () => {
    host.sent.state.mood = 'drops'
    await acme.post(ACCOUNTS, { email: 'tim@acme.test', password: PASSWORD, name: 'Tim' })
    const alias = { source: 'desk@acme.test', destination: 'tim@acme.test' }
    expect((await acme.post('/api/v1/aliases/add', alias)).status).toBe(200)
    const tim = host.client('tim@acme.test')
    const found = await tim.propfind('/dav/', '<D:current-user-principal/>')
    const account = /principals\/([^/]+)\//.exec(found.text)?.[1]
    const path = `/dav/calendars/${account}/calendar/w.ics`
    expect((await tim.put(path, meeting('w', 'desk@acme.test', [BOB]))).status).toBe(201)
    await attempted()
    const removed = await acme.post('/api/v1/aliases/delete', [alias.source])
    expect(removed.body, removed.text).toMatchObject({ type: 'success' })
    host.sent.state.mood = 'well'
    host.app.clock.advance(60_000)
    await nothingWaits()
    host.app.clock.reset()
    expect(host.sent.received).toEqual([])
    expect((await tim.get(path)).text).toContain('SCHEDULE-STATUS=5.1')
  })
})
