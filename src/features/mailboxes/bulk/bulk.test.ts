import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { ACCOUNTS, eventsOf, mailboxRow } from '../../../../test/support/mailboxes.ts'

const BULK = `${ACCOUNTS}/bulk`
type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let acme: Tenant
let globex: Tenant

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const account = (name: string, more: object = {}) => ({
  email: `${name}@acme.test`,
  password: PASSWORD,
  ...more,
})
const namesOf = async (tenant: Tenant, q: string) =>
  (await tenant.get(`${ACCOUNTS}?q=${q}`)).body.data.items.map(
    ({ email }: { email: string }) => email,
  )

it('creates several mailboxes and reports a result for each row', async () => {
  const answer = await acme.post(BULK, {
    accounts: [
      account('Bulk-One', { name: 'One', storage_quota: 1024 }),
      account('bulk-weak', { password: 'short' }),
      account('bulk-one'),
      { email: 'not an address', password: 'short', status: 'gone' },
      { email: 'bulk@globex.test', password: PASSWORD },
      'a text',
      account('bulk-two'),
    ],
  })
  expect(answer.status).toBe(200)
  const { summary, results } = answer.body.data
  expect(summary).toEqual({ total: 7, success: 2, errors: 5 })
  expect(results).toEqual([
    {
      email: 'bulk-one@acme.test',
      status: 'success',
      msg: 'Email account created successfully',
      account_id: expect.any(String),
    },
    {
      email: 'bulk-weak@acme.test',
      status: 'error',
      msg: 'Password must be at least 12 characters long',
    },
    {
      email: 'bulk-one@acme.test',
      status: 'error',
      msg: 'Email account bulk-one@acme.test already exists',
      error_code: 'MAILBOX_ALREADY_EXISTS',
    },
    {
      email: 'not an address',
      status: 'error',
      msg: 'Invalid email format; Password must be at least 12 characters long; Invalid account status',
    },
    {
      email: 'bulk@globex.test',
      status: 'error',
      msg: 'Domain globex.test not found or inactive',
    },
    { email: '', status: 'error', msg: 'Email address is required; Password is required' },
    expect.objectContaining({ email: 'bulk-two@acme.test', status: 'success' }),
  ])
  expect(answer.text).not.toContain(PASSWORD)
  const [{ account_id }] = results
  const row = await mailboxRow(app, account_id)
  expect(row).toMatchObject({ name: 'One', storage_quota: 1024 })
  expect(await app.core.passwords.matches(PASSWORD, row?.password_hash)).toBe(true)
  expect(await eventsOf(app, account_id)).toMatchObject([{ event: 'mailbox.created' }])
  expect(await namesOf(acme, 'bulk-')).toEqual(['bulk-one@acme.test', 'bulk-two@acme.test'])
})

it('answers a repeated bulk request with the stored result and creates nothing twice', async () => {
  const body = { accounts: [account('again-one'), account('again-two')] }
  const keyed = { headers: { 'idempotency-key': 'bulk-again' } }
  const first = await acme.post(BULK, body, keyed)
  const second = await acme.post(BULK, body, keyed)
  expect(first.body.data.summary).toEqual({ total: 2, success: 2, errors: 0 })
  expect(second.body).toEqual(first.body)
  expect(await namesOf(acme, 'again-')).toHaveLength(2)
})

it('stops at the limit of the domain and creates the rows before it', async () => {
  const { id } = await app.hostedDomain(acme, { domain: 'small.test', dkim_enabled: false })
  await acme.put(`/api/v1/domains/${id}`, { max_users: 2 })
  const accounts = ['a', 'b', 'c', 'd'].map((name) => ({
    email: `${name}@small.test`,
    password: PASSWORD,
  }))
  const { results } = (await acme.post(BULK, { accounts })).body.data
  expect(results.map(({ status }: { status: string }) => status)).toEqual([
    'success',
    'success',
    'error',
    'error',
  ])
  expect(results[2].msg).toBe('Domain has reached maximum user limit (2)')
})

it('refuses more than 500 rows and a body without a list, and creates nothing', async () => {
  const accounts = Array.from({ length: 501 }, (_, index) => account(`many-${index}`))
  expect(await acme.post(BULK, { accounts })).toMatchObject({
    status: 422,
    body: { msg: 'At most 500 email accounts can be sent at once' },
  })
  expect((await acme.post(BULK, { accounts: 'all' })).status).toBe(422)
  expect(await acme.post(BULK, { accounts: [] })).toMatchObject({
    status: 200,
    body: { data: { summary: { total: 0, success: 0, errors: 0 }, results: [] } },
  })
  expect(await namesOf(acme, 'many-')).toEqual([])
})

it("does not create mailboxes at another organization's domain, nor for a read-only key", async () => {
  const { results } = (await globex.post(BULK, { accounts: [account('stolen')] })).body.data
  expect(results).toMatchObject([
    { status: 'error', msg: 'Domain acme.test not found or inactive' },
  ])
  const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
  expect((await reader.post(BULK, { accounts: [account('read')] })).status).toBe(403)
})
