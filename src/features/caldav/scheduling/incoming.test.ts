import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../../../../test/support/app.ts'
import { type DavClient, hrefsIn } from '../../../../test/support/dav.ts'
import { event } from '../../../../test/support/dav-objects.ts'
import { invitationMail, meeting, startInvitations } from '../../../../test/support/invitations.ts'
import { ACCOUNTS } from '../../../../test/support/mailboxes.ts'

let host: Awaited<ReturnType<typeof startInvitations>>
let acme: Awaited<ReturnType<typeof host.app.tenant>>
let globex: typeof acme
let jane: DavClient
let home: string
const BOSS = 'boss@elsewhere.test'
const BOB = 'bob@elsewhere.test'
beforeAll(async () => {
  host = await startInvitations()
  acme = await host.app.tenant('acme')
  globex = await host.app.tenant('globex')
  jane = host.client(acme.email)
  home = `/dav/calendars/${acme.accountId}/calendar/`
  await jane.propfind(home, '<D:getetag/>')
})
afterAll(() => host.stop())

/** The object of a mailbox with this UID; undefined when there is none. */
async function stored(uid: string, account = acme.accountId): Promise<string | undefined> {
  const row = await host.app.core.db
    .selectFrom('dav_objects')
    .innerJoin('dav_collections', 'dav_collections.id', 'dav_objects.collection_id')
    .select('dav_objects.data')
    .where('dav_objects.uid', '=', uid)
    .where('dav_objects.gone', '=', false)
    .where('dav_collections.account_id', '=', account)
    .executeTakeFirst()
  return row?.data.replace(/\r\n /g, '')
}
/** The path of the object of Jane with this UID. */
async function pathOf(uid: string): Promise<string> {
  const { uri } = await host.app.core.db
    .selectFrom('dav_objects')
    .select('uri')
    .where('uid', '=', uid)
    .where('gone', '=', false)
    .executeTakeFirstOrThrow()
  return home + uri
}
const invite = (uid: string, ...lines: string[]) =>
  meeting(uid, BOSS, [`ATTENDEE;PARTSTAT=ACCEPTED:mailto:${acme.email}`, BOB], ...lines)
const arriving = async (...given: Parameters<typeof host.arrive>) => {
  const before = host.delivered.received.length
  expect(await host.arrive(...given)).toMatch(/^250 /)
  // The mail itself always arrives.
  expect(host.delivered.received).toHaveLength(before + 1)
}

describe('a message changes no calendar', () => {
  it('when its author is not proven', async () => {
    await arriving(BOSS, acme.email, 'REQUEST', invite('unproven'), '')
    await arriving(BOSS, acme.email, 'REQUEST', invite('unproven'), 'other.test')
    expect(await stored('unproven')).toBeUndefined()
  })

  it('when Rspamd marks it as spam', async () => {
    host.rspamd.action = 'add header'
    await arriving(BOSS, acme.email, 'REQUEST', invite('spam'))
    host.rspamd.action = 'no action'
    expect(await stored('spam')).toBeUndefined()
  })

  it('when its author is not the organizer', async () => {
    await arriving('mallory@elsewhere.test', acme.email, 'REQUEST', invite('forged'))
    expect(await stored('forged')).toBeUndefined()
  })

  it('when the mailbox is not invited', async () => {
    await arriving(BOSS, acme.email, 'REQUEST', meeting('others', BOSS, [BOB]))
    expect(await stored('others')).toBeUndefined()
  })

  it('when it is broken, of an unknown method, or contradicts its header', async () => {
    await arriving(BOSS, acme.email, 'REQUEST', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n')
    await arriving(BOSS, acme.email, 'PUBLISH', invite('published'))
    const text = invitationMail(BOSS, 'REQUEST', invite('odd')).replace(
      'method=REQUEST',
      'method=X',
    )
    expect(await host.submit(acme.email, acme.email, text.replaceAll(BOSS, acme.email))).toMatch(
      /^250/,
    )
    expect(await stored('published')).toBeUndefined()
    expect(await stored('odd')).toBeUndefined()
  })

  it('when its UID belongs to an event of the holder or of another organizer', async () => {
    const own = event('mine', '20261201T090000Z', 'SUMMARY:Private')
    await jane.put(`${home}mine.ics`, own)
    await arriving(BOSS, acme.email, 'REQUEST', invite('mine', 'SEQUENCE:9'))
    await arriving(BOSS, acme.email, 'CANCEL', invite('mine', 'SEQUENCE:9'))
    expect((await jane.get(`${home}mine.ics`)).text).toBe(own)
    await arriving(BOSS, acme.email, 'REQUEST', invite('theirs'))
    const before = await stored('theirs')
    const thief = 'thief@other.test'
    const taken = meeting('theirs', thief, [acme.email], 'SEQUENCE:9')
    await arriving(thief, acme.email, 'REQUEST', taken)
    await arriving(thief, acme.email, 'CANCEL', taken)
    expect(await stored('theirs')).toBe(before)
  })

  it('of another tenant', async () => {
    await arriving(BOSS, globex.email, 'REQUEST', invite('neighbour'))
    expect(await stored('neighbour')).toBeUndefined()
    expect(await stored('neighbour', globex.accountId)).toBeUndefined()
  })

  it('when a mailbox filter redirects it, whatever the author says', async () => {
    const text = `X-Sieve: Pigeonhole\r\nX-Sieve-Redirected-From: ${globex.email}\r\n${invitationMail(
      globex.email,
      'REQUEST',
      meeting('redirected', globex.email, [acme.email]),
    )}`
    expect(await host.submit(globex.email, acme.email, text)).toMatch(/^250/)
    expect(await stored('redirected')).toBeUndefined()
  })
})

describe('an invitation', () => {
  it('is added to the calendar without an answer, and without alarms', async () => {
    const alarm = ['BEGIN:VALARM', 'ACTION:DISPLAY', 'TRIGGER:-PT5M', 'END:VALARM']
    await arriving(BOSS, acme.email, 'REQUEST', invite('added', ...alarm))
    const data = await stored('added')
    expect(data).toContain(`PARTSTAT=NEEDS-ACTION:mailto:${acme.email}`)
    expect(data).not.toContain('METHOD')
    expect(data).not.toContain('VALARM')
    expect((await jane.get(await pathOf('added'))).status).toBe(200)
  })

  it('reaches mailboxes that never used a calendar, by alias and from another tenant', async () => {
    await acme.post(ACCOUNTS, { email: 'new@acme.test', password: PASSWORD, name: 'New' })
    await acme.post('/api/v1/aliases/add', {
      source: 'all@acme.test',
      destination: 'new@acme.test',
    })
    const text = meeting('alias', globex.email, ['all@acme.test'])
    const mail = invitationMail(globex.email, 'REQUEST', text)
    expect(await host.submit(globex.email, 'all@acme.test', mail)).toMatch(/^250/)
    const { id } = await host.app.core.db
      .selectFrom('email_accounts')
      .select('id')
      .where('email', '=', 'new@acme.test')
      .executeTakeFirstOrThrow()
    expect(await stored('alias', id)).toContain('ATTENDEE;PARTSTAT=NEEDS-ACTION')
  })

  it('is replaced by a newer version only, and keeps answer and alarms at the same time', async () => {
    await arriving(BOSS, acme.email, 'REQUEST', invite('versions', 'SEQUENCE:2'))
    const own = await pathOf('versions')
    const alarm = 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n'
    const accepted = (await jane.get(own)).text
      .replace('PARTSTAT=NEEDS-ACTION', 'PARTSTAT=ACCEPTED')
      .replace('END:VEVENT', `${alarm}END:VEVENT`)
    expect((await jane.put(own, accepted)).status).toBe(204)

    await arriving(BOSS, acme.email, 'REQUEST', invite('versions', 'SEQUENCE:1', 'COMMENT:old'))
    await arriving(BOSS, acme.email, 'REQUEST', invite('versions', 'SEQUENCE:2', 'COMMENT:again'))
    expect((await jane.get(own)).text).toBe(accepted)

    const renamed = invite('versions', 'SEQUENCE:2', 'DTSTAMP:20261102T000000Z', 'LOCATION:Room 2')
    await arriving(BOSS, acme.email, 'REQUEST', renamed)
    expect(await stored('versions')).toContain('LOCATION:Room 2')
    expect(await stored('versions')).toContain(`PARTSTAT=ACCEPTED:mailto:${acme.email}`)
    expect(await stored('versions')).toContain('VALARM')

    const moved = invite('versions', 'SEQUENCE:3', 'DTSTART:20261203T100000Z')
    await arriving(BOSS, acme.email, 'REQUEST', moved)
    expect(await stored('versions')).toContain(`PARTSTAT=NEEDS-ACTION:mailto:${acme.email}`)
  })

  it('stays deleted when it is delivered once more, and comes back when it is sent again', async () => {
    await arriving(BOSS, acme.email, 'REQUEST', invite('deleted'))
    const removed = await jane.delete(await pathOf('deleted'), { 'schedule-reply': 'F' })
    expect(removed.status).toBe(204)
    await arriving(BOSS, acme.email, 'REQUEST', invite('deleted'))
    expect(await stored('deleted')).toBeUndefined()
    await arriving(BOSS, acme.email, 'REQUEST', invite('deleted', 'DTSTAMP:20361101T000000Z'))
    expect(await stored('deleted')).toContain('UID:deleted')
  })

  it('to one instance changes that instance of the series', async () => {
    const rule = 'RRULE:FREQ=DAILY;COUNT=3'
    await arriving(BOSS, acme.email, 'REQUEST', invite('series', rule))
    const instance = ['RECURRENCE-ID:20261202T100000Z', 'DTSTART:20261202T140000Z']
    await arriving(BOSS, acme.email, 'REQUEST', invite('series', ...instance, 'SEQUENCE:1'))
    expect(await stored('series')).toContain('RRULE')
    expect(await stored('series')).toContain('DTSTART:20261202T140000Z')
    const off = ['RECURRENCE-ID:20261203T100000Z', 'SEQUENCE:2', 'STATUS:CANCELLED']
    await arriving(BOSS, acme.email, 'CANCEL', invite('series', ...off))
    expect(await stored('series')).toContain('EXDATE:20261203T100000Z')
    expect(await stored('series')).not.toContain('STATUS:CANCELLED')
  })
})

describe('a cancellation', () => {
  it('leaves the version before it to a legal hold', async () => {
    const { db } = host.app.core
    await arriving(BOSS, acme.email, 'REQUEST', invite('held'))
    await sql`insert into legal_holds (organization_id, name, custodians, created_by, reason)
      values (${acme.organizationId}, 'case', array[${acme.email}], 'operator', 'case')`.execute(db)
    await arriving(BOSS, acme.email, 'CANCEL', invite('held', 'SEQUENCE:1'))
    await sql`update legal_holds set active = false`.execute(db)
    const kept = await db.selectFrom('dav_kept_objects').select('data').execute()
    expect(kept).toHaveLength(1)
    expect(kept[0]?.data).not.toContain('CANCELLED')
    expect(await stored('held')).toContain('STATUS:CANCELLED')
  })

  it('marks the event, which then ignores older invitations', async () => {
    await arriving(BOSS, acme.email, 'REQUEST', invite('off', 'SEQUENCE:1'))
    await arriving(BOSS, acme.email, 'CANCEL', invite('off', 'SEQUENCE:0'))
    expect(await stored('off')).not.toContain('CANCELLED')
    await arriving(BOSS, acme.email, 'CANCEL', invite('off', 'SEQUENCE:2'))
    expect(await stored('off')).toContain('STATUS:CANCELLED')
    await arriving(BOSS, acme.email, 'REQUEST', invite('off', 'SEQUENCE:1'))
    expect(await stored('off')).toContain('STATUS:CANCELLED')
  })
})

describe('a reply', () => {
  const answer = (uid: string, from: string, status: string, ...lines: string[]) =>
    meeting(uid, acme.email, [`ATTENDEE;PARTSTAT=${status}:mailto:${from}`], ...lines)
  const organize = (uid: string, ...lines: string[]) =>
    jane.put(`${home}${uid}.ics`, meeting(uid, acme.email, [BOB, globex.email], ...lines))

  it('of somebody who is not invited, for somebody else, or to another event is ignored', async () => {
    await organize('replies')
    const before = await stored('replies')
    const crasher = 'crasher@elsewhere.test'
    await arriving(crasher, acme.email, 'REPLY', answer('replies', crasher, 'ACCEPTED'))
    await arriving(crasher, acme.email, 'REPLY', answer('replies', BOB, 'ACCEPTED'))
    await arriving(BOB, acme.email, 'REPLY', answer('replies', BOB, 'ACCEPTED'), '')
    await arriving(BOB, acme.email, 'REPLY', answer('replies', BOB, 'NONSENSE'))
    await arriving(BOB, acme.email, 'REPLY', answer('unknown', BOB, 'ACCEPTED'))
    expect(await stored('replies')).toBe(before)
  })

  it('to an older version is ignored', async () => {
    await organize('outdated', 'SEQUENCE:2')
    await arriving(BOB, acme.email, 'REPLY', answer('outdated', BOB, 'ACCEPTED', 'SEQUENCE:1'))
    expect(await stored('outdated')).not.toContain('ACCEPTED')
  })

  it('sets the answer of its author, of this host or another, and the newest answer stays', async () => {
    await organize('answered')
    await arriving(BOB, acme.email, 'REPLY', answer('answered', BOB, 'ACCEPTED'))
    expect(await stored('answered')).toMatch(/PARTSTAT=ACCEPTED[^\r]*mailto:bob@elsewhere.test/)
    const text = invitationMail(globex.email, 'REPLY', answer('answered', globex.email, 'DECLINED'))
    expect(await host.submit(globex.email, acme.email, text)).toMatch(/^250/)
    expect(await stored('answered')).toMatch(/PARTSTAT=DECLINED[^\r]*mailto:admin@globex.test/)
    const older = answer('answered', BOB, 'DECLINED', 'DTSTAMP:20261015T000000Z')
    await arriving(BOB, acme.email, 'REPLY', older)
    expect(await stored('answered')).toMatch(/PARTSTAT=ACCEPTED[^\r]*mailto:bob@elsewhere.test/)
  })

  it('to one instance of a series is noted at that instance, if there is one', async () => {
    await organize('weekly', 'RRULE:FREQ=WEEKLY;COUNT=4', 'DTEND:20261201T110000Z')
    const to = (time: string) =>
      arriving(BOB, acme.email, 'REPLY', answer('weekly', BOB, 'DECLINED', `RECURRENCE-ID:${time}`))
    await to('20261209T100000Z')
    expect(await stored('weekly')).not.toContain('DECLINED')
    await to('20261208T100000Z')
    const data = (await stored('weekly')) ?? ''
    expect(data.match(/BEGIN:VEVENT/g)).toHaveLength(2)
    expect(data).toContain('RECURRENCE-ID:20261208T100000Z')
    expect(data).toContain('DTEND:20261208T110000Z')
    expect(data.match(/PARTSTAT=DECLINED/g)).toHaveLength(1)
  })

  it('leaves the schedule tag alone, and a change with that tag keeps the answer', async () => {
    const text = meeting('tagged', acme.email, [BOB])
    const first = await jane.put(`${home}tagged.ics`, text)
    const tag = String(first.headers['schedule-tag'])
    await arriving(BOB, acme.email, 'REPLY', answer('tagged', BOB, 'ACCEPTED'))
    const read = await jane.get(`${home}tagged.ics`)
    expect(read.headers).toMatchObject({ 'schedule-tag': tag })
    expect(read.headers.etag).not.toBe(first.headers.etag)
    const change = meeting('tagged', acme.email, [BOB], 'LOCATION:Room 3')
    const refused = await jane.put(`${home}tagged.ics`, change, { 'if-schedule-tag-match': '"x"' })
    expect(refused.status).toBe(412)
    const put = await jane.put(`${home}tagged.ics`, change, { 'if-schedule-tag-match': tag })
    expect(put.status).toBe(204)
    expect(put.headers.etag).toBeUndefined()
    expect(await stored('tagged')).toContain('LOCATION:Room 3')
    expect(await stored('tagged')).toMatch(/PARTSTAT=ACCEPTED[^\r]*mailto:bob@elsewhere.test/)
  })
})

describe('the boxes', () => {
  it('are found from the mailbox; the inbox is always empty', async () => {
    const principal = `/dav/principals/${acme.accountId}/`
    const found = await jane.propfind(principal, '<C:schedule-inbox-URL/><C:schedule-outbox-URL/>')
    const inbox = `/dav/scheduling/${acme.accountId}/inbox/`
    expect(found.text).toContain(inbox)
    const listed = await jane.propfind(inbox, '<D:resourcetype/>', '1')
    expect(hrefsIn(listed.text)).toEqual([inbox])
    expect(listed.text).toContain('<C:schedule-inbox/>')
    const foreign = await jane.propfind(`/dav/scheduling/${globex.accountId}/inbox/`, '<D:owner/>')
    expect(foreign.status).toBe(404)
  })

  const question = (organizer: string, ...attendees: string[]) =>
    [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//test//EN',
      'METHOD:REQUEST',
      'BEGIN:VFREEBUSY',
      'UID:question',
      'DTSTAMP:20261101T000000Z',
      'DTSTART:20270101T000000Z',
      'DTEND:20270102T000000Z',
      `ORGANIZER:mailto:${organizer}`,
      ...attendees.map((one) => `ATTENDEE:mailto:${one}`),
      'END:VFREEBUSY',
      'END:VCALENDAR',
      '',
    ].join('\r\n')
  const ask = (body: string, type = 'text/calendar') =>
    jane.send('POST', `/dav/scheduling/${acme.accountId}/outbox/`, {
      body,
      headers: { 'content-type': type },
    })

  it('answer for the busy times of the own organization, and of nobody else', async () => {
    expect((await ask(question(globex.email, acme.email))).text).toContain('organizer-allowed')
    expect((await ask('nonsense')).status).toBe(403)
    expect((await ask(question(acme.email), 'text/plain')).status).toBe(403)
    expect((await jane.send('POST', home, { body: 'x' })).status).toBe(405)
    const text = event('busy', '20270101T100000Z', 'DTEND:20270101T110000Z')
    await jane.put(`${home}busy.ics`, text)
    const foreign = host.client(globex.email)
    await foreign.put(`/dav/calendars/${globex.accountId}/calendar/busy.ics`, text)
    const { status, text: xml } = await ask(question(acme.email, acme.email, globex.email, BOB))
    expect(status).toBe(200)
    expect(xml.match(/20270101T100000Z\/20270101T110000Z/g)).toHaveLength(1)
    expect(xml.match(/3\.7;Invalid calendar user/g)).toHaveLength(2)
  })
})
