import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { DavClient } from '../../../../test/support/dav.ts'
import { invitationMail, meeting, startInvitations } from '../../../../test/support/invitations.ts'

let host: Awaited<ReturnType<typeof startInvitations>>
let acme: Awaited<ReturnType<typeof host.app.tenant>>
let globex: typeof acme
let admin: Awaited<ReturnType<typeof host.app.operator>>
let jane: DavClient
const BOSS = 'boss@elsewhere.test'
beforeAll(async () => {
  host = await startInvitations()
  acme = await host.app.tenant('acme')
  globex = await host.app.tenant('globex')
  admin = await host.app.operator('admin')
  jane = host.client(acme.email)
})
afterAll(() => host.stop())
beforeEach(async () => {
  Object.assign(host.rspamd, { action: 'no action', score: 0 })
  host.delivered.state.mood = 'well'
  host.delivered.received.length = 0
  await host.app.core.db.deleteFrom('quarantine').execute()
  await host.app.core.db.deleteFrom('transport_rules').execute()
})

const invite = (uid: string, from = BOSS) => meeting(uid, from, [acme.email])

/** The objects of Jane with this UID. */
const stored = (uid: string, account = acme.accountId) =>
  host.app.core.db
    .selectFrom('dav_objects')
    .innerJoin('dav_collections', 'dav_collections.id', 'collection_id')
    .select(['dav_objects.data', 'dav_objects.uri', 'dav_objects.seq'])
    .where('uid', '=', uid)
    .where('gone', '=', false)
    .where('account_id', '=', account)
    .execute()

/** Mail of another host that scores too high. Returns the id in the quarantine. */
async function held(uid: string, verified?: string, from = BOSS, calendar = invite(uid, from)) {
  host.rspamd.score = 50
  expect(await host.arrive(from, acme.email, 'REQUEST', calendar, verified)).toMatch(/^250 /)
  host.rspamd.score = 0
  return heldId()
}
async function heldId(): Promise<string> {
  expect(host.delivered.received).toEqual([])
  const { id } = await host.app.core.db
    .selectFrom('quarantine')
    .select('id')
    .executeTakeFirstOrThrow()
  return id
}
const release = (id: string) =>
  admin.post(`/api/v1/message-trace/quarantine/${id}/release`, {
    reason: 'asked for by the recipient',
  })

it('changes the calendar when it is released, not before', async () => {
  const id = await held('late')
  expect(await stored('late')).toEqual([])
  expect((await release(id)).status).toBe(200)
  expect(await stored('late')).toMatchObject([
    { data: expect.stringContaining('PARTSTAT=NEEDS-ACTION') },
  ])
  expect(host.delivered.received).toHaveLength(1)
})

it('changes no calendar when the author was not proven as it arrived', async () => {
  const id = await held('unproven', '')
  // The release itself proves nothing, and neither does another mail of the author.
  await host.arrive(BOSS, acme.email, 'REQUEST', invite('proven'))
  host.delivered.received.length = 0
  expect((await release(id)).status).toBe(200)
  expect(host.delivered.received).toHaveLength(1)
  expect(await stored('unproven')).toEqual([])
  expect(await stored('proven')).toHaveLength(1)
})

it('changes no calendar of another organizer, or of somebody who is not invited', async () => {
  const forged = await held('forged', 'other.test', 'thief@other.test', invite('forged'))
  expect((await release(forged)).status).toBe(200)
  await host.app.core.db.deleteFrom('quarantine').execute()
  host.delivered.received.length = 0
  const others = await held('others', undefined, BOSS, meeting('others', BOSS, [globex.email]))
  expect((await release(others)).status).toBe(200)
  expect(await stored('forged')).toEqual([])
  expect(await stored('others')).toEqual([])
  expect(await stored('others', globex.accountId)).toEqual([])
})

it('changes nothing when the mail server refuses it, and once when it is released again', async () => {
  const id = await held('refused')
  host.delivered.state.mood = 'refuses'
  expect((await release(id)).status).toBe(502)
  expect(await stored('refused')).toEqual([])
  host.delivered.state.mood = 'well'
  expect((await release(id)).status).toBe(200)
  expect(await stored('refused')).toHaveLength(1)
  expect((await release(id)).status).toBe(409)
})

it('changes the calendar once when a release is repeated after a crash', async () => {
  const id = await held('twice')
  expect((await release(id)).status).toBe(200)
  const [first] = await stored('twice')
  const path = `/dav/calendars/${acme.accountId}/calendar/${first?.uri}`
  const answered = first?.data.replace('NEEDS-ACTION', 'ACCEPTED') ?? ''
  expect((await jane.put(path, answered)).status).toBe(204)
  // The process was killed before it stored the end of the release.
  await host.app.core.db.updateTable('quarantine').set({ status: 'quarantined' }).execute()
  expect((await release(id)).status).toBe(200)
  expect(await stored('twice')).toMatchObject([{ data: answered }])
  expect((await jane.delete(path)).status).toBe(204)
  await host.app.core.db.updateTable('quarantine').set({ status: 'quarantined' }).execute()
  expect((await release(id)).status).toBe(200)
  expect(await stored('twice')).toEqual([])
})

it('changes nothing when newer versions came meanwhile', async () => {
  const id = await held('old')
  const newer = meeting('old', BOSS, [acme.email], 'SEQUENCE:3', 'LOCATION:Room 7')
  await host.arrive(BOSS, acme.email, 'REQUEST', newer)
  const before = await stored('old')
  expect((await release(id)).status).toBe(200)
  expect(await stored('old')).toEqual(before)
})

it('changes no calendar when the released mail is marked as spam', async () => {
  await rule(acme, 'inbound')
  host.rspamd.action = 'add header'
  await host.arrive(BOSS, acme.email, 'REQUEST', invite('junk'))
  expect((await release(await heldId())).status).toBe(200)
  expect(await stored('junk')).toEqual([])
})

const rule = (tenant: typeof acme, direction: string) =>
  tenant.post('/api/v1/transport-rules/', {
    name: 'Hold meetings',
    direction,
    conditions: [{ field: 'subject', operator: 'contains', value: 'Budget' }],
    actions: [{ type: 'quarantine', params: {} }],
  })
const submit = (uid: string) =>
  host.submit(
    globex.email,
    acme.email,
    invitationMail(globex.email, 'REQUEST', invite(uid, globex.email)),
  )

it('changes the calendar when the organization of the sender has held it', async () => {
  expect((await rule(globex, 'outbound')).status).toBe(201)
  expect(await submit('outgoing')).toMatch(/^250 /)
  const id = await heldId()
  expect(await stored('outgoing')).toEqual([])
  expect((await release(id)).status).toBe(200)
  expect(await stored('outgoing')).toHaveLength(1)
})

it('changes the calendar when the own organization has held it on its way from another', async () => {
  expect((await rule(acme, 'inbound')).status).toBe(201)
  expect(await submit('incoming')).toMatch(/^250 /)
  const id = await heldId()
  expect(await stored('incoming')).toEqual([])
  expect((await release(id)).status).toBe(200)
  expect(await stored('incoming')).toHaveLength(1)
})
