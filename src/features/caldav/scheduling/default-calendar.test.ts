import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type DavClient, NAMESPACES } from '../../../../test/support/dav.ts'
import { meeting, startInvitations } from '../../../../test/support/invitations.ts'
import { untilBlocked } from '../../../../test/support/locks.ts'

let host: Awaited<ReturnType<typeof startInvitations>>
let acme: Awaited<ReturnType<typeof host.app.tenant>>
let globex: typeof acme
let jane: DavClient
let inbox: string
let home: string
const BOSS = 'boss@elsewhere.test'
const NAME = 'C:schedule-default-calendar-URL'
beforeAll(async () => {
  host = await startInvitations()
  acme = await host.app.tenant('acme')
  globex = await host.app.tenant('globex')
  jane = host.client(acme.email)
  inbox = `/dav/scheduling/${acme.accountId}/inbox/`
  home = `/dav/calendars/${acme.accountId}/`
})
afterAll(() => host.stop())
beforeEach(async () => {
  await update('<D:remove><D:prop><C:schedule-default-calendar-URL/></D:prop></D:remove>')
  await jane.delete(`${home}work/`)
  await jane.delete(`${home}team/`)
})

const update = (changes: string, path = inbox, client = jane) =>
  client.send('PROPPATCH', path, {
    body: `<D:propertyupdate ${NAMESPACES}>${changes}</D:propertyupdate>`,
  })
const set = (property: string) => `<D:set><D:prop>${property}</D:prop></D:set>`
const choose = (path: string) => update(set(`<${NAME}><D:href>${path}</D:href></${NAME}>`))
/** The chosen calendar, as programs read it. */
async function chosen(): Promise<string | undefined> {
  const { text } = await jane.propfind(inbox, `<${NAME}/>`)
  return new RegExp(`<${NAME}><D:href>([^<]*)</D:href></${NAME}>`).exec(text)?.[1]
}
/** The calendar that an invitation with this UID was added to. */
async function calendarOf(uid: string): Promise<string | undefined> {
  const found = await host.app.core.db
    .selectFrom('dav_objects')
    .innerJoin('dav_collections', 'dav_collections.id', 'collection_id')
    .select('dav_collections.uri')
    .where('uid', '=', uid)
    .where('gone', '=', false)
    .where('account_id', '=', acme.accountId)
    .executeTakeFirst()
  return found?.uri
}
const invite = async (uid: string, ...lines: string[]) =>
  expect(
    await host.arrive(BOSS, acme.email, 'REQUEST', meeting(uid, BOSS, [acme.email], ...lines)),
  ).toMatch(/^250 /)

it('refuses every URL that is no calendar of the mailbox with events', async () => {
  const foreign = `/dav/calendars/${globex.accountId}/calendar/`
  await host.client(globex.email).propfind(foreign, '<D:getetag/>')
  const others = [foreign, `${home}tasks/`, `${home}none/`, `${home}calendar/x.ics`, home]
  for (const path of [...others, `/dav/addressbooks/${acme.accountId}/contacts/`, '', 'http://[']) {
    const { status, text } = await choose(path)
    expect(status, path).toBe(207)
    expect(text, path).toContain('403 Forbidden')
    expect(text, path).toContain('<D:error><C:valid-schedule-default-calendar-URL/></D:error>')
  }
  expect(await chosen()).toBe(`${home}calendar/`)
})

it('refuses other properties of the inbox, and inboxes of other mailboxes', async () => {
  const both = await update(
    set(`<${NAME}><D:href>${home}calendar/</D:href></${NAME}><D:displayname>Box</D:displayname>`),
  )
  expect(both.text).toContain('424 Failed Dependency')
  expect(both.text).toContain('cannot-modify-protected-property')
  const path = set(`<${NAME}><D:href>${home}calendar/</D:href></${NAME}>`)
  expect((await update(path, inbox, host.client(globex.email))).status).toBe(404)
  expect((await update(path, `${home}calendar/`)).text).toContain('403 Forbidden')
})

it('adds new invitations to the chosen calendar, and leaves earlier ones where they are', async () => {
  await invite('early')
  await jane.send('MKCALENDAR', `${home}work/`)
  expect((await choose(`${home}work/`)).text).toContain('200 OK')
  expect(await chosen()).toBe(`${home}work/`)
  await invite('late')
  await invite('early', 'SEQUENCE:1')
  expect(await calendarOf('late')).toBe('work')
  expect(await calendarOf('early')).toBe('calendar')
  // The newest choice counts.
  await choose(`http://localhost${home}calendar/`)
  await invite('latest')
  expect(await calendarOf('latest')).toBe('calendar')
})

it('falls back to the choice before, then to the usual calendar, when one is deleted', async () => {
  await jane.send('MKCALENDAR', `${home}work/`)
  await jane.send('MKCALENDAR', `${home}team/`)
  await choose(`${home}work/`)
  await choose(`${home}team/`)
  expect((await jane.delete(`${home}team/`)).status).toBe(204)
  expect(await chosen()).toBe(`${home}work/`)
  await jane.delete(`${home}work/`)
  expect(await chosen()).toBe(`${home}calendar/`)
  await invite('after')
  expect(await calendarOf('after')).toBe('calendar')
})

it('takes the choice back when the property is removed', async () => {
  await jane.send('MKCALENDAR', `${home}work/`)
  await choose(`${home}work/`)
  const remove = `<D:remove><D:prop><${NAME}/></D:prop></D:remove>`
  expect((await update(remove)).text).toContain('200 OK')
  expect(await chosen()).toBe(`${home}calendar/`)
})

it('loses no invitation that arrives while the chosen calendar is deleted', async () => {
  await jane.send('MKCALENDAR', `${home}work/`)
  await choose(`${home}work/`)
  const { db } = host.app.core
  let arriving: Promise<void> | undefined
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('dav_collections').where('uri', '=', 'work').execute()
    arriving = invite('meanwhile')
    await untilBlocked(db)
  })
  await arriving
  expect(await calendarOf('meanwhile')).toBe('calendar')
})
