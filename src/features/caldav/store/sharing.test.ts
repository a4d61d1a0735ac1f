import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../../../../test/support/app.ts'
import { card, type DavClient, event, hrefsIn, startDav } from '../../../../test/support/dav.ts'
import { passwordHashing } from '../../../lib/password-hashing.ts'
import { ulid } from '../../../lib/ulid.ts'
import { releaseKeptObjects } from '../caldav.jobs.ts'

let dav: Awaited<ReturnType<typeof startDav>>
let acme: Awaited<ReturnType<typeof dav.app.tenant>>
let globex: Awaited<ReturnType<typeof dav.app.tenant>>
let me: DavClient
beforeAll(async () => {
  dav = await startDav()
  acme = await dav.app.tenant('acme')
  globex = await dav.app.tenant('globex')
  me = dav.client(acme.email)
})
afterAll(() => dav.stop())

const NOON = '20260105T120000Z'

async function mailbox(name: string, more = {}) {
  const id = ulid()
  const email = `${name}@acme.test`
  await dav.app.core.db
    .insertInto('email_accounts')
    .values({
      id,
      email,
      name,
      organization_id: acme.organizationId,
      domain_id: acme.domainId,
      password_hash: await passwordHashing('lowest').hash(PASSWORD),
      ...more,
    })
    .execute()
  return { id, email, ...dav.client(email) }
}

describe('the address book of the domain', () => {
  it('lists the active mailboxes of the domain, and cannot be changed', async () => {
    const jane = await mailbox('jane')
    await mailbox('gone', { status: 'suspended' })
    const book = `/dav/addressbooks/${acme.accountId}/domain/`
    const listed = await me.propfind(book, '<D:getetag/>', '1')
    const expected = [book, `${book}${acme.accountId}.vcf`, `${book}${jane.id}.vcf`].sort()
    expect(hrefsIn(listed.text)).toEqual(expected)
    const { text } = await me.get(`${book}${jane.id}.vcf`)
    expect(text).toContain(`EMAIL;TYPE=INTERNET:${jane.email}\r\n`)
    const other = await me.get(`${book}${globex.accountId}.vcf`)
    expect(other.status).toBe(404)
    expect((await me.put(`${book}new.vcf`, card('n', 'N'))).status).toBe(403)
    expect((await me.delete(`${book}${jane.id}.vcf`)).status).toBe(403)
    expect((await me.delete(book)).status).toBe(403)
    const query = `<A:addressbook-query xmlns:D="DAV:" xmlns:A="urn:ietf:params:xml:ns:carddav"><D:prop><D:getetag/></D:prop><A:filter><A:prop-filter name="FN"><A:text-match>JAN</A:text-match></A:prop-filter></A:filter></A:addressbook-query>`
    expect(hrefsIn((await me.report(book, query)).text)).toEqual([`${book}${jane.id}.vcf`])
  })
})

describe('the calendar of a shared mailbox', () => {
  async function shared() {
    const id = ulid()
    await dav.app.core.db
      .insertInto('shared_mailboxes')
      .values({
        id,
        organization_id: acme.organizationId,
        domain_id: acme.domainId,
        email: `team-${id.toLowerCase()}@acme.test`,
        name: 'Team',
      })
      .execute()
    return id
  }
  const join = (
    shared_mailbox_id: string,
    email_account_id: string,
    permission: 'full_access' | 'read_only',
  ) =>
    dav.app.core.db
      .insertInto('shared_mailbox_members')
      .values({ id: ulid(), shared_mailbox_id, email_account_id, permission })
      .execute()
  const pathFor = (account: string, id: string) =>
    `/dav/calendars/${account}/shared~${id}~calendar/`

  it('is in the home of every member, to write or to read', async () => {
    const id = await shared()
    const writer = await mailbox('writer')
    const reader = await mailbox('reader')
    await join(id, writer.id, 'full_access')
    await join(id, reader.id, 'read_only')
    const home = await writer.propfind(`/dav/calendars/${writer.id}/`, '<D:displayname/>', '1')
    expect(hrefsIn(home.text)).toContain(pathFor(writer.id, id))
    const text = event('meeting', NOON)
    const put = await writer.put(`${pathFor(writer.id, id)}meeting.ics`, text)
    expect(put.status).toBe(201)
    expect((await reader.get(`${pathFor(reader.id, id)}meeting.ics`)).text).toBe(text)
    expect((await reader.put(`${pathFor(reader.id, id)}x.ics`, event('x', NOON))).status).toBe(403)
    expect((await reader.delete(`${pathFor(reader.id, id)}meeting.ics`)).status).toBe(403)
    expect((await writer.delete(pathFor(writer.id, id))).status).toBe(403)
  })

  it('is not found by others, and no longer by a former member', async () => {
    const id = await shared()
    const member = await mailbox('member')
    await join(id, member.id, 'full_access')
    await member.propfind(`/dav/calendars/${member.id}/`, '<D:displayname/>', '1')
    await member.put(`${pathFor(member.id, id)}a.ics`, event('a', NOON))
    const path = `${pathFor(member.id, id)}a.ics`
    expect((await me.get(`${pathFor(acme.accountId, id)}a.ics`)).status).toBe(404)
    await dav.app.core.db
      .deleteFrom('shared_mailbox_members')
      .where('shared_mailbox_id', '=', id)
      .execute()
    expect((await member.get(path)).status).toBe(404)
    const made = await member.send('MKCALENDAR', pathFor(member.id, id))
    expect(made.status).toBe(403)
  })
})

describe('a legal hold', () => {
  it('keeps what is changed and deleted, until it ends', async () => {
    const held = await mailbox('held')
    const { db } = dav.app.core
    const path = `/dav/calendars/${held.id}/calendar/`
    await held.put(`${path}one.ics`, event('one', NOON, 'SUMMARY:before'))
    await held.put(`${path}two.ics`, event('two', NOON))
    await sql`insert into legal_holds (organization_id, name, custodians, created_by, reason)
      values (${acme.organizationId}, 'case', array[${held.email}], 'operator', 'case')`.execute(db)
    await held.put(`${path}one.ics`, event('one', NOON, 'SUMMARY:after'))
    await held.delete(`${path}one.ics`)
    await held.delete(path)
    const kept = () =>
      db
        .selectFrom('dav_kept_objects')
        .select(['uri', 'data'])
        .where('email', '=', held.email)
        .orderBy('uri')
        .orderBy('modified_at')
        .execute()
    const rows = await kept()
    expect(rows.map(({ uri }) => uri)).toEqual(['one.ics', 'one.ics', 'two.ics'])
    expect(rows[0]?.data).toContain('SUMMARY:before')
    expect(rows[1]?.data).toContain('SUMMARY:after')
    await releaseKeptObjects.run(dav.app.core)
    expect(await kept()).toHaveLength(3)
    await sql`update legal_holds set active = false`.execute(db)
    await releaseKeptObjects.run(dav.app.core)
    expect(await kept()).toEqual([])
  })
})
