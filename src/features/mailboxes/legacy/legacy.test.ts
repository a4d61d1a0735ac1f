import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { isSignedIn, startMailServers } from '../../../../test/support/mail-servers.ts'
import {
  eventsOf,
  insertMailbox,
  mailboxRow,
  NEW_PASSWORD,
} from '../../../../test/support/mailboxes.ts'

const BASE = '/api/v1/mailboxes'
const GIB = 1024 ** 3
const NOT_FOUND = { status: 404, body: { type: 'error', msg: 'Mailbox not found' } }

type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let mail: Awaited<ReturnType<typeof startMailServers>>
let acme: Tenant
let globex: Tenant

beforeAll(async () => {
  mail = await startMailServers()
  app = await startApp({ env: mail.env })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(async () => {
  await app.stop()
  await mail.stop()
})

const box = (fields: Parameters<typeof insertMailbox>[2] = {}, of = acme) =>
  insertMailbox(app, of, { storage_quota: 0, ...fields })

describe('POST /add', () => {
  const jane = { local_part: 'jane', domain: 'acme.test', password: PASSWORD }
  const add = (more: object) => acme.post(`${BASE}/add`, { ...jane, ...more })

  it.each<[object, string]>([
    [{ local_part: undefined, domain: undefined }, 'Missing required field: local_part'],
    [{ domain: undefined }, 'Missing required field: domain'],
    [{ domain: 7 }, 'Missing required field: domain'],
    [{ password: '' }, 'Missing required field: password'],
    [{ domain: 'acme' }, 'Invalid email format'],
    [{ domain: 'acme.test/x' }, 'Invalid email format'],
    [{ domain: 'x@acme.test' }, 'Invalid email format'],
    [{ email: 'john@acme.test' }, 'email must be the same as local_part@domain'],
    [{ email: 7 }, 'email must be the same as local_part@domain'],
    [{ password: 'short1' }, 'Password must be at least 12 characters long'],
    [{ quota: '1 GiB' }, 'quota must be an integer number of bytes'],
    [{ quota: 1.5 }, 'quota must be an integer number of bytes'],
    [{ quota: -1 }, 'quota must be non-negative'],
    [{ name: 7 }, 'name must be a string'],
    [{ domain: 'nowhere.test' }, 'Domain nowhere.test not found or inactive'],
    [{ domain: 'globex.test' }, 'Domain globex.test not found or inactive'],
  ])('rejects %j: %s', async (more, msg) => {
    expect(await add(more)).toMatchObject({ status: 400, body: { type: 'error', msg } })
  })

  it.each([['a b'], ['"a"'], ['.a'], ['a..b'], ['a@b'], ['jоhn'], ['a\nb'], ['x'.repeat(65)]])(
    'rejects the local part %j',
    async (local_part) => {
      const answer = await add({ local_part })
      expect(answer.status).toBe(400)
      expect(answer.body.msg).toMatch(/^Invalid local_part: /)
    },
  )

  it('rejects an empty body', async () => {
    expect(await acme.post(`${BASE}/add`, {})).toMatchObject({
      status: 400,
      body: { msg: 'No data provided' },
    })
  })

  it('returns id and address, allots 5 GiB if available, and emits an event', async () => {
    const answer = await add({ local_part: 'Jane', domain: 'ACME.test', email: 'jane@acme.TEST' })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'Mailbox jane@acme.test created successfully',
        data: { email: 'jane@acme.test' },
      },
    })
    const id = answer.body.data.user_id
    expect(await mailboxRow(app, id)).toMatchObject({ storage_quota: 5 * GIB, status: 'active' })
    expect(await eventsOf(app, id)).toMatchObject([
      { event: 'mailbox.created', org_id: acme.organizationId, domain: 'acme.test' },
    ])
    expect(answer.text).not.toContain(PASSWORD)
    const next = await add({ local_part: 'next', active: '0' })
    expect(await mailboxRow(app, next.body.data.user_id)).toMatchObject({
      storage_quota: 0,
      status: 'inactive',
    })
    expect(await add({ local_part: 'jane' })).toMatchObject({
      status: 409,
      body: {
        msg: 'Mailbox jane@acme.test already exists',
        error_code: 'MAILBOX_ALREADY_EXISTS',
        data: { existing_id: id },
      },
    })
    expect((await add({ local_part: 'big', quota: String(6 * GIB) })).body.msg).toMatch(
      /^Domain storage quota exceeded/,
    )
  })

  it('rejects a mailbox beyond the user limit', async () => {
    const small = await app.tenant('small')
    await small.put(`/api/v1/domains/${small.domainId}/quotas`, { max_users: 1 })
    const body = { ...jane, domain: 'small.test' }
    expect(await small.post(`${BASE}/add`, body)).toMatchObject({
      status: 400,
      body: { msg: 'Domain has reached maximum user limit (1)' },
    })
  })
})

describe('GET /get', () => {
  it('returns a list with the mailbox of an address or id', async () => {
    const { id, email } = await box({ storage_quota: 1000, storage_used: 250 })
    for (const name of [id, email, email.toUpperCase(), encodeURIComponent(email)]) {
      const answer = await acme.get(`${BASE}/get/${name}`)
      expect(answer.body.data).toMatchObject([
        {
          id,
          email,
          domain_name: 'acme.test',
          stats: { message_count: 0, total_size: 250 },
          quota_usage_percent: 25,
        },
      ])
      expect(answer.text).not.toContain('_hash')
    }
  })

  it("lists the organization's active mailboxes by address for `all`", async () => {
    const initech = await app.tenant('initech')
    await box({ email: 'zoe@initech.test' }, initech)
    await box({ email: 'off@initech.test', status: 'inactive' }, initech)
    const emails = async (by: Pick<Tenant, 'get'>, query = '') =>
      (await by.get(`${BASE}/get/all${query}`)).body.data.map(
        ({ email }: { email: string }) => email,
      )
    const own = ['admin@initech.test', 'zoe@initech.test']
    expect(await emails(initech)).toEqual(own)
    expect(await emails(initech, `?organization_id=${acme.organizationId}`)).toEqual(own)
    const platform = await app.key(acme.organizationId, { scope: 'platform' })
    expect(await emails(platform, `?organization_id=${initech.organizationId}`)).toEqual(own)
    expect(await emails(platform)).toContain(globex.email)
  })

  it("and every other route return 404 for an unknown or another organization's mailbox", async () => {
    for (const name of [globex.email, globex.accountId, 'nobody@acme.test', '"@', 'x', 'All']) {
      expect(await acme.get(`${BASE}/get/${name}`)).toMatchObject(NOT_FOUND)
      expect(await acme.get(`${BASE}/get/quota/${name}`)).toMatchObject(NOT_FOUND)
      expect(await acme.get(`${BASE}/get/stats/${name}`)).toMatchObject(NOT_FOUND)
      expect(await acme.post(`${BASE}/edit/quota`, { mailbox: name, quota: 1 })).toMatchObject(
        NOT_FOUND,
      )
    }
    expect((await mailboxRow(app, globex.accountId))?.storage_quota).toBe(GIB)
  })
})

describe('POST /edit', () => {
  it('returns one outcome for each item of any JSON type', async () => {
    const items = [{ toString: 1 }, null, 7, []]
    const edited = await acme.post(`${BASE}/edit`, { items, attr: { name: 'x' } })
    expect(edited.body.data[0]).toMatchObject({ mailbox: '{"toString":1}', status: 'error' })
    const deleted = await acme.post(`${BASE}/delete`, items)
    expect(deleted.body.data).toHaveLength(items.length)
  })

  it.each([[{ items: 'x' }], [{ items: [] }], [{ attr: {} }], [{ items: [], attr: [] }]])(
    'rejects the body %j',
    async (body) => {
      expect(await acme.post(`${BASE}/edit`, body)).toMatchObject({
        status: 400,
        body: { msg: 'Invalid request format' },
      })
    },
  )

  it('refuses attributes of a mailbox that cannot be changed, by name and for each item', async () => {
    const one = await box()
    const edit = async (attr: object) =>
      (await acme.post(`${BASE}/edit`, { items: [one.email, globex.email], attr })).body.data
    expect(await edit({ email: 'new@acme.test', external_id: '7' })).toEqual([
      {
        mailbox: one.email,
        status: 'error',
        msg: 'Nothing was changed: email, external_id cannot be changed here',
      },
      { mailbox: globex.email, status: 'error', msg: `Mailbox ${globex.email} not found` },
    ])
    expect((await edit({ email: 'new@acme.test', name: 'New' }))[0].status).toBe('success')
    expect(await mailboxRow(app, one.id)).toMatchObject({ email: one.email, name: 'New' })
  })

  it("changes each item separately; unknown and another organization's mailboxes are not found", async () => {
    const one = await box()
    const holder = await app.session('mailbox', one.id)
    const before = await mailboxRow(app, globex.accountId)
    const items = [one.email, globex.email, 'nobody@acme.test', 7]
    const answer = await acme.post(`${BASE}/edit`, {
      items,
      attr: { name: 'Renamed', quota: 5, active: 0, password: NEW_PASSWORD, external_id: 'no' },
    })
    expect(answer.body).toMatchObject({
      msg: 'Mailbox update completed',
      data: [
        { mailbox: one.email, status: 'success', msg: `Mailbox ${one.email} updated successfully` },
        { mailbox: globex.email, status: 'error', msg: `Mailbox ${globex.email} not found` },
        { status: 'error', msg: 'Mailbox nobody@acme.test not found' },
        { status: 'error', msg: 'Mailbox 7 not found' },
      ],
    })
    const row = await mailboxRow(app, one.id)
    expect(row).toMatchObject({ name: 'Renamed', storage_quota: 5, status: 'inactive' })
    expect(row?.external_id).toBeNull()
    expect(await app.core.passwords.matches(NEW_PASSWORD, row?.password_hash)).toBe(true)
    expect(await mailboxRow(app, globex.accountId)).toEqual(before)
    expect(await isSignedIn(holder)).toBe(false)
    expect(mail.flushed()).toContain(one.email)
    expect((await eventsOf(app, one.id)).map(({ event, org_id }) => [event, org_id])).toEqual(
      ['updated', 'quota.changed', 'password.changed', 'suspended'].map((what) => [
        `mailbox.${what}`,
        acme.organizationId,
      ]),
    )
  })

  it.each([
    [{ password: '' }, 'Password must be at least 12 characters long'],
    [{ quota: -5 }, 'quota must be non-negative'],
    [{ name: {} }, 'name must be a string'],
  ])('rejects %j and changes nothing: %s', async (attr, msg) => {
    const one = await box()
    const before = await mailboxRow(app, one.id)
    const answer = await acme.post(`${BASE}/edit`, { items: [one.email], attr })
    expect(answer.body.data).toEqual([{ mailbox: one.email, status: 'error', msg }])
    expect(await mailboxRow(app, one.id)).toEqual(before)
  })
})
