import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { insertMailbox, mailboxRow } from '../../../test/support/mailboxes.ts'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'
import { releaseEndedHolds } from './holds/holds.jobs.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let owner: Awaited<ReturnType<App['operator']>>
let support: Awaited<ReturnType<App['operator']>>
let jane: Awaited<ReturnType<typeof insertMailbox>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  owner = await app.operator('owner')
  support = await app.operator('support')
})
afterAll(() => app.stop())
beforeEach(async () => {
  jane = await insertMailbox(app, acme)
})

const PATH = '/api/v1/compliance'
const REASON = 'The court has asked for it'
const hold = (more: object = {}) =>
  owner.post(`${PATH}/legal-holds`, {
    organization_id: acme.organizationId,
    name: 'Case 12',
    reason: REASON,
    custodians: [jane.email],
    ...more,
  })
const erase = (email = jane.email) =>
  owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'jane herself' })
const release = (id: number) => owner.post(`${PATH}/legal-holds/${id}/release`, { reason: REASON })
const trailOf = async (email: string) =>
  (await support.get(`${PATH}/audit-log?user_email=${email}`)).body.data.items.map(
    ({ action }: { action: string }) => action,
  )
const eventsNamed = async (name: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute())
    .filter(({ event }) => event === name)
    .map(({ data }) => data)

describe('compliance requests', () => {
  it.each([
    ['POST', 'data-export', {}],
    ['POST', 'data-export', { requested_by: '' }],
    ['POST', 'data-export', { requested_by: 'x', export_type: 'everything' }],
    ['POST', 'data-erasure', {}],
    ['POST', 'consent', { granted: true }],
    ['POST', 'consent', { consent_type: 'marketing', granted: 'yes' }],
    ['POST', 'consent', { consent_type: 'Mar keting<', granted: true }],
  ])('rejects %s %s with the body %j with 422', async (method, route, body) => {
    const answer = await owner.call(method, `${PATH}/${route}/${jane.email}`, body)
    expect(answer.status).toBe(422)
  })

  it('rejects a malformed e-mail address in the path', async () => {
    for (const email of ['nothing', 'a@b', '%00@x.test', 'a b@x.test']) {
      const answer = await owner.get(`${PATH}/consent/${email}`)
      expect([422, 400], email).toContain(answer.status)
    }
  })

  it('returns 404 for the export or erasure of a person about whom nothing is stored', async () => {
    const missing = {
      status: 404,
      body: { msg: 'No data about nobody@acme.test is stored' },
    }
    expect(await erase('nobody@acme.test')).toMatchObject(missing)
    expect(
      await owner.post(`${PATH}/data-export/nobody@acme.test`, { requested_by: 'x' }),
    ).toMatchObject(missing)
  })

  it.each([
    [{ reason: 'too short' }],
    [{ reason: undefined }],
    [{ name: '' }],
    [{ name: 'x'.repeat(256) }],
    [{ custodians: ['jane'] }],
    [{ custodians: ['admin@globex.test'] }],
    [{ custodians: ['grace@elsewhere.test'] }],
    [{ custodians: 'jane@acme.test' }],
    [{ end_date: 'soon' }],
    [{ end_date: '2020-01-01' }],
  ])('rejects a legal hold with %j with 422 (B1.4)', async (wrong) => {
    expect((await hold(wrong)).status).toBe(422)
  })

  it('returns 404 for a legal hold or retention policy of an unknown organization', async () => {
    const missing = { status: 404, body: { msg: 'Organization not found' } }
    expect(await hold({ organization_id: 'none' })).toMatchObject(missing)
    const body = { retention_days: 30, reason: REASON }
    expect(await owner.put(`${PATH}/retention-policies/none`, body)).toMatchObject(missing)
  })

  it.each([[0], [36_501], ['30'], [1.5], [undefined]])(
    'rejects a retention of %j days with 422',
    async (days) => {
      const path = `${PATH}/retention-policies/${acme.organizationId}`
      expect((await owner.put(path, { retention_days: days, reason: REASON })).status).toBe(422)
    },
  )

  it('rejects malformed dates in the audit log query with 422', async () => {
    expect(await owner.get(`${PATH}/audit-log?start_date=yesterday`)).toMatchObject({
      status: 422,
      body: { msg: 'start_date/end_date must be ISO dates or datetimes' },
    })
  })
})

describe('legal holds', () => {
  it('rejects an erasure with 409 and names the legal holds that block it', async () => {
    const { id } = (await hold()).body.data
    expect(await erase()).toMatchObject({
      status: 409,
      body: { error_code: 'legal_hold_active', data: { holds: [{ id, name: 'Case 12' }] } },
    })
    expect(await mailboxRow(app, jane.id)).toMatchObject({ status: 'active' })
    await release(id)
    expect((await erase()).status).toBe(201)
  })

  it('covers its custodians, or the whole organization without custodians, until its end date', async () => {
    const john = await insertMailbox(app, acme)
    const check = async (email: string) =>
      (await owner.get(`${PATH}/legal-holds/check/${email}`)).body.data.on_hold
    const janeHold = (await hold({ custodians: [jane.email.toUpperCase()] })).body.data
    expect(await check(jane.email)).toBe(true)
    expect(await check(john.email)).toBe(false)
    const end = new Date(app.clock.now().getTime() + HOUR_MS).toISOString()
    const organizationHold = (await hold({ custodians: [], end_date: end })).body.data
    expect(await check(john.email)).toBe(true)
    expect(await check(globex.email)).toBe(false)
    app.clock.advance(3_600_001)
    expect(await check(john.email)).toBe(false)
    expect(await check(jane.email)).toBe(true)
    await releaseEndedHolds.run(app.core)
    expect((await release(organizationHold.id)).status).toBe(409)
    const { items } = (await owner.get(`${PATH}/audit-log?action=legal_hold.released`)).body.data
    expect(items[0]).toMatchObject({
      performed_by: 'system',
      details: { hold_id: organizationHold.id },
    })
    await release(janeHold.id)
    expect(await check(jane.email)).toBe(false)
  })

  it('is found by address when the domain has changed hands or its mailbox is deleted', async () => {
    const check = async (email: string) =>
      (await owner.get(`${PATH}/legal-holds/check/${email}`)).body.data
    const named = (await hold({ custodians: [jane.email] })).body.data
    await app.core.db
      .updateTable('domains')
      .set({ ownership_verified_at: null })
      .where('id', '=', acme.domainId)
      .execute()
    expect(await check(jane.email)).toMatchObject({ on_hold: true, holds: [{ id: named.id }] })
    await release(named.id)
    expect(await check(jane.email)).toMatchObject({ on_hold: false, holds: [] })

    const gone = `gone-${jane.id.toLowerCase()}@elsewhere.test`
    await app.core.db
      .insertInto('deleted_mailboxes')
      .values({ id: jane.id, email: gone, organization_id: acme.organizationId })
      .execute()
    const whole = (await hold({ custodians: [] })).body.data
    expect(await check(gone)).toMatchObject({ on_hold: true, holds: [{ id: whole.id }] })
    expect((await check(jane.email)).on_hold).toBe(true)
    expect((await check(globex.email)).on_hold).toBe(false)
    await release(whole.id)
    await app.core.db
      .updateTable('domains')
      .set({ ownership_verified_at: new Date().toISOString() })
      .where('id', '=', acme.domainId)
      .execute()
  })

  it('releases a legal hold once, keeps its record and emits compliance.hold.released', async () => {
    const { id } = (await hold({ name: '50% <b>"off"</b>' })).body.data
    expect((await owner.post(`${PATH}/legal-holds/${id}/release`, {})).status).toBe(422)
    const races = await Promise.all([release(id), release(id), release(id)])
    expect(races.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const list = await owner.get(`${PATH}/legal-holds?q=50%25&active=false`)
    expect(list.body.data.items).toMatchObject([{ id, name: '50% <b>"off"</b>', active: false }])
    expect((await release(999_999_999)).status).toBe(404)
    expect(await eventsNamed('compliance.hold.released')).toContainEqual(
      expect.objectContaining({ hold_id: id, user_email: jane.email, reason: REASON }),
    )
    expect(await trailOf(jane.email)).toEqual(['legal_hold.released', 'legal_hold.placed'])
  })

  it('keeps the mailbox status consistent when a hold and an erasure are requested concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      jane = await insertMailbox(app, acme)
      const [erased, held] = await Promise.all([erase(), hold()])
      expect(held.status).toBe(201)
      const { status } = (await mailboxRow(app, jane.id)) ?? {}
      expect(status).toBe(erased.status === 201 ? 'inactive' : 'active')
      await release(held.body.data.id)
    }
  })
})

describe('data erasure', () => {
  it('ends mailbox sessions and blocks tenant changes as soon as an erasure is requested', async () => {
    const session = await app.session('mailbox', jane.id)
    expect((await session.get('/api/v1/mailbox/two-factor')).status).toBe(200)
    const answer = await erase()
    expect(answer).toMatchObject({
      status: 201,
      body: {
        msg: 'Data erasure scheduled',
        data: { user_email: jane.email, status: 'soft_deleted', hard_deleted_at: null },
      },
    })
    const { soft_deleted_at, hard_delete_scheduled_at } = answer.body.data
    expect(Date.parse(hard_delete_scheduled_at) - Date.parse(soft_deleted_at)).toBe(30 * DAY_MS)
    expect((await session.get('/api/v1/mailbox/two-factor')).status).toBe(401)
    const refused = { status: 409, body: { msg: expect.stringContaining('being erased') } }
    expect(await acme.put(jane.path, { status: 'active' })).toMatchObject(refused)
    expect(await acme.delete(jane.path)).toMatchObject(refused)
    expect(await eventsNamed('compliance.data_erasure')).toContainEqual({
      erasure_id: answer.body.data.id,
      user_email: jane.email,
      requested_by: 'jane herself',
      hard_delete_scheduled_at,
    })
  })

  it('accepts one of three concurrent erasure requests and rejects the others with 409', async () => {
    const answers = await Promise.all([erase(), erase(), erase()])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  it('restores the previous mailbox status when an erasure is cancelled before removal', async () => {
    const cancel = () => owner.post(`${PATH}/data-erasure/${jane.email}/cancel`, { reason: REASON })
    expect((await cancel()).status).toBe(404)
    await app.core.db
      .updateTable('email_accounts')
      .set({ status: 'suspended' })
      .where('id', '=', jane.id)
      .execute()
    await erase()
    expect((await cancel()).body.data).toMatchObject({ status: 'cancelled' })
    expect(await mailboxRow(app, jane.id)).toMatchObject({ status: 'suspended' })
    expect((await erase()).status).toBe(201)
    const { items } = (await owner.get(`${PATH}/data-erasure/${jane.email}/status`)).body.data
    expect(items.map(({ status }: { status: string }) => status)).toEqual([
      'soft_deleted',
      'cancelled',
    ])
  })
})

describe('consent', () => {
  it('stores one row per consent type with the times it was granted and revoked', async () => {
    const path = `${PATH}/consent/${jane.email}`
    const set = (consent_type: string, granted: boolean, more: object = {}) =>
      owner.post(path, { consent_type, granted, ...more })
    const from = { ip_address: '192.0.2.7', user_agent: 'Browser 7' }
    const given = (await set('third_party', true, from)).body.data
    expect(given).toMatchObject({
      consent_type: 'third_party_sharing',
      granted: true,
      ...from,
      revoked_at: null,
    })
    // B1.7: the IP address and browser of the operator are not those of the person.
    const withdrawn = (await set('third_party_sharing', false)).body.data
    expect(withdrawn).toMatchObject({
      id: given.id,
      granted: false,
      granted_at: given.granted_at,
      ip_address: null,
      user_agent: null,
    })
    expect((await set('third_party', true, { ip_address: 'x' })).status).toBe(422)
    expect(withdrawn.revoked_at).not.toBeNull()
    expect((await owner.get(path)).body.data).toEqual({
      user_email: jane.email,
      items: [withdrawn],
    })
    expect(await eventsNamed('compliance.consent_changed')).toMatchObject([
      { user_email: jane.email, granted: true, action: 'granted' },
      { user_email: jane.email, granted: false, action: 'revoked' },
    ])
  })

  it('stores the consent of a person without a mailbox on this host', async () => {
    const answer = await owner.post(`${PATH}/consent/Grace@Elsewhere.test`, {
      consent_type: 'marketing',
      granted: true,
    })
    expect(answer.body.data.user_email).toBe('grace@elsewhere.test')
  })
})

describe('retention policies', () => {
  const set = (body: object) =>
    owner.put(`${PATH}/retention-policies/${globex.organizationId}`, { reason: REASON, ...body })

  it('stores one policy per organization with defaults and ignores legal_hold in the body', async () => {
    const first = (await set({ retention_days: 30 })).body.data
    expect(first).toMatchObject({ auto_archive: false, archive_after_days: 90, legal_hold: false })
    const second = await set({ retention_days: 60, auto_archive: true, legal_hold: true })
    expect(second.body.data).toMatchObject({ id: first.id, auto_archive: true, legal_hold: false })
    const list = await owner.get(
      `${PATH}/retention-policies?organization_id=${globex.organizationId}`,
    )
    expect(list.body.data).toMatchObject({
      items: [{ retention_days: 60 }],
      pagination: { total: 1, page: 1 },
    })
  })
})

describe('compliance audit log', () => {
  it('filters by day, action, e-mail address and IP, newest first, and rejects deletes', async () => {
    await hold()
    await owner.post(`${PATH}/consent/${jane.email}`, { consent_type: 'marketing', granted: true })
    expect(await trailOf(jane.email)).toEqual(['consent.granted', 'legal_hold.placed'])
    const today = app.clock.now().toISOString().slice(0, 10)
    const query = `user_email=${jane.email}&start_date=${today}&end_date=${today}&ip_address=127.0.0.1`
    const list = await support.get(`${PATH}/audit-log?${query}&action=legal_hold.placed`)
    expect(list.body.data.items).toMatchObject([
      {
        organization_id: acme.organizationId,
        performed_by: owner.email,
        details: { reason: REASON, custodians: [jane.email] },
      },
    ])
    expect((await support.get(`${PATH}/audit-log?${query}&action=x`)).body.data.items).toEqual([])
    await expect(app.core.db.deleteFrom('compliance_audit').execute()).rejects.toThrow(
      'append-only',
    )
  })

  it('adds the action and its reason to the operator audit log', async () => {
    const { id } = (await hold()).body.data
    await release(id)
    const row = await app.core.db
      .selectFrom('operator_audit')
      .selectAll()
      .where('action', '=', 'release_legal_hold')
      .where('target_id', '=', String(id))
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ request_body: { reason: REASON }, result: 'success' })
  })
})
