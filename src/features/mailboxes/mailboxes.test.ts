import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { isSignedIn, startMailServers } from '../../../test/support/mail-servers.ts'
import {
  ACCOUNTS,
  eventsOf,
  insertMailbox,
  mailboxRow,
  NEW_PASSWORD,
} from '../../../test/support/mailboxes.ts'

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

const mailbox = (more: Parameters<typeof insertMailbox>[2] = {}, tenant = acme) =>
  insertMailbox(app, tenant, more)
const NOT_FOUND = { status: 404, body: { type: 'error', msg: 'Email account not found' } }

describe("another organization's mailbox", () => {
  it('returns 404 on every route, and nothing changes', async () => {
    const { id, path, email } = await mailbox({}, globex)
    const before = await mailboxRow(app, id)
    expect(await acme.get(path)).toMatchObject(NOT_FOUND)
    expect(await acme.get(`${path}/quotas`)).toMatchObject(NOT_FOUND)
    expect(await acme.put(path, { name: 'Mine' })).toMatchObject(NOT_FOUND)
    expect(await acme.put(path, { password: NEW_PASSWORD })).toMatchObject(NOT_FOUND)
    expect(await acme.put(`${path}/quotas`, { storage_quota: 1 })).toMatchObject(NOT_FOUND)
    expect(await acme.post(`${path}/reset-password`, { new_password: NEW_PASSWORD })).toMatchObject(
      NOT_FOUND,
    )
    expect(await acme.delete(path)).toMatchObject({ status: 204, text: '' })
    expect(await mailboxRow(app, id)).toEqual(before)
    expect(await eventsOf(app, id)).toEqual([])
    expect(mail.flushed()).not.toContain(email)
    const list = await acme.get(
      `${ACCOUNTS}?organization_id=${globex.organizationId}&domain_id=${globex.domainId}`,
    )
    expect(list.body.data).toMatchObject({ items: [], pagination: { total: 0 } })
  })

  it('gets the response of an unknown mailbox, for any id', async () => {
    for (const id of ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '%F0%9F%90%8E', "';--", 'x'.repeat(900)]) {
      const path = `${ACCOUNTS}/${id}`
      expect(await acme.get(path)).toMatchObject(NOT_FOUND)
      expect(await acme.put(path, { name: 'X' })).toMatchObject(NOT_FOUND)
      expect(await acme.delete(path)).toMatchObject({ status: 204, text: '' })
    }
  })

  it('is accessible to platform callers', async () => {
    const { path, email } = await mailbox({}, globex)
    const platform = await app.key(acme.organizationId, { scope: 'platform' })
    expect(await platform.get(path)).toMatchObject({ status: 200, body: { data: { email } } })
    expect((await platform.put(path, { name: 'X' })).status).toBe(200)
    const support = await app.operator('support')
    expect((await support.get(path)).status).toBe(200)
    expect((await support.delete(path)).status).toBe(403)
    expect((await platform.delete(path)).status).toBe(200)
  })
})

describe('a mailbox', () => {
  it('is returned with its domain and organization, and without secrets', async () => {
    const answer = await acme.get(`${ACCOUNTS}/${acme.accountId}`)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'Email account retrieved successfully',
        data: {
          id: acme.accountId,
          local_part: 'admin',
          domain: { id: acme.domainId, domain: 'acme.test' },
          organization: { id: acme.organizationId, name: 'acme' },
        },
      },
    })
    expect(answer.text).not.toMatch(/argon2|_hash|webhook_secret/)
  })

  it('is listed in the domain detail', async () => {
    const initech = await app.tenant('initech')
    const domain = await initech.get(`/api/v1/domains/${initech.domainId}`)
    expect(domain.body.data.email_accounts).toMatchObject([
      { id: initech.accountId, local_part: 'admin' },
    ])
    expect(domain.text).not.toContain('argon2')
  })

  it('is changed in the sent fields, and emits an event', async () => {
    const { id, path, email } = await mailbox({ name: 'Old' })
    const answer = await acme.put(path, {
      name: 'New',
      external_id: 'changed-1',
      email: 'other@acme.test',
      organization_id: globex.organizationId,
      storage_used: 1,
      billing_plan: 'free',
    })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'Email account updated successfully',
        data: { email, name: 'New', external_id: 'changed-1', storage_used: 0, status: 'active' },
      },
    })
    expect(await eventsOf(app, id)).toEqual([
      {
        event: 'mailbox.updated',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: {
          account_id: id,
          email,
          organization_id: acme.organizationId,
          updated_fields: ['name', 'external_id'],
        },
      },
    ])
    const cleared = await acme.put(path, { name: null, external_id: null })
    expect(cleared.body.data).toMatchObject({ name: null, external_id: null })
  })

  it('can lack an external_id like others, but cannot share one', async () => {
    const one = await mailbox()
    const two = await mailbox()
    expect((await acme.put(one.path, { external_id: 'same' })).status).toBe(200)
    expect((await acme.put(one.path, { external_id: 'same' })).status).toBe(200)
    expect(await acme.put(two.path, { external_id: 'same' })).toMatchObject({
      status: 409,
      body: { msg: 'Email account with this external_id already exists' },
    })
    expect((await acme.put(two.path, { external_id: null })).status).toBe(200)
  })

  it('is not changed by an empty body, an invalid field or unknown fields', async () => {
    const { id, path } = await mailbox()
    const before = await mailboxRow(app, id)
    expect(await acme.put(path, {})).toMatchObject({
      status: 400,
      body: { msg: 'No data provided' },
    })
    const wrong = { name: 'X', status: 'deleted', password: '', storage_quota: 'big' }
    expect(await acme.put(path, wrong)).toMatchObject({
      status: 400,
      body: {
        data: {
          errors: [
            'Password must be at least 12 characters long',
            'Storage quota must be a valid number',
            'Invalid account status',
          ],
        },
      },
    })
    expect((await acme.put(path, { password: null })).body.data.errors).toEqual([
      'Password is required',
    ])
    expect((await acme.put(path, { color: 'red' })).status).toBe(200)
    expect(await mailboxRow(app, id)).toEqual(before)
    expect(await eventsOf(app, id)).toEqual([])
  })
})

describe('a deleted mailbox', () => {
  it('loses its sessions, is no longer counted, and emits an event', async () => {
    const { id, path, email } = await mailbox()
    const holder = await app.session('mailbox', id)
    const count = async () =>
      (await acme.get(`/api/v1/domains/${acme.domainId}`)).body.data.total_email_accounts
    const before = await count()
    expect(await acme.delete(path)).toMatchObject({
      status: 200,
      body: { type: 'success', msg: 'Email account deleted successfully' },
    })
    expect(await isSignedIn(holder)).toBe(false)
    expect(await count()).toBe(before - 1)
    expect(mail.flushed()).toContain(email)
    expect(await acme.get(path)).toMatchObject(NOT_FOUND)
    expect(await acme.delete(path)).toMatchObject({ status: 204, text: '' })
    expect((await eventsOf(app, id)).map(({ event, data }) => [event, data])).toEqual([
      ['mailbox.deleted', { account_id: id, email, organization_id: acme.organizationId }],
    ])
    const again = await acme.post(ACCOUNTS, { email, password: PASSWORD })
    expect(again.status).toBe(201)
  })

  it('is deleted once by many concurrent requests', async () => {
    const { id, path } = await mailbox()
    const answers = await Promise.all(Array.from({ length: 6 }, () => acme.delete(path)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 204, 204, 204, 204, 204])
    expect(await eventsOf(app, id)).toHaveLength(1)
  })
})
