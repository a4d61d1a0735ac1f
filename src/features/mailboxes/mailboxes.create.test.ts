import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { ACCOUNTS, eventsOf, mailboxRow } from '../../../test/support/mailboxes.ts'

const GIB = 1024 ** 3

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

const create = (body: object, by: Pick<Tenant, 'post'> = acme) => by.post(ACCOUNTS, body)
const created = async (body: object, by?: Pick<Tenant, 'post'>) => {
  const answer = await create({ password: PASSWORD, ...body }, by)
  expect(answer.status).toBe(201)
  return answer.body.data
}
describe('a new mailbox', () => {
  it('is stored in lower case with defaults, and its password is never returned', async () => {
    const answer = await create({ email: ' Jane.Doe+News@ACME.test ', password: PASSWORD })
    const { data } = answer.body
    expect(answer).toMatchObject({
      status: 201,
      body: { type: 'success', msg: 'Email account created successfully' },
    })
    expect(data).toMatchObject({
      email: 'jane.doe+news@acme.test',
      local_part: 'jane.doe+news',
      domain_id: acme.domainId,
      organization_id: acme.organizationId,
      external_id: null,
      name: null,
      status: 'active',
      storage_quota: GIB,
      storage_used: 0,
      rate_limits: {},
      storage_quotas: {},
      rate_usage_data: null,
      forward_enabled: false,
      vacation_enabled: false,
      must_change_password: false,
      quota_override: false,
      last_login: null,
    })
    expect(answer.text).not.toMatch(/argon2|password_hash/)
    expect(answer.text).not.toContain(PASSWORD)
    const row = await mailboxRow(app, data.id)
    expect(row?.password_hash).toMatch(/^\$argon2id\$/)
    expect(await app.core.passwords.matches(PASSWORD, row?.password_hash)).toBe(true)
    const events = await eventsOf(app, data.id)
    expect(events).toMatchObject([
      {
        event: 'mailbox.created',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: {
          account_id: data.id,
          email: 'jane.doe+news@acme.test',
          domain_id: acme.domainId,
          organization_id: acme.organizationId,
        },
      },
    ])
    expect(JSON.stringify(events)).not.toContain(PASSWORD)
  })

  it('stores every writable field and ignores the others', async () => {
    const fields = {
      name: ' Ünïcødé <b>&"name" ',
      status: 'suspended',
      storage_quota: 0,
      rate_limits: { hourly: 5 },
      storage_quotas: { soft: 1 },
      forward_enabled: true,
      forward_destination: 'a@b.test, c@d.test',
      vacation_enabled: true,
      vacation_message: 'Gone\nfishing',
      external_id: 'crm-2',
    }
    const data = await created({
      ...fields,
      email: 'everything@acme.test',
      id: 'chosen',
      organization_id: globex.organizationId,
      domain_id: globex.domainId,
      storage_used: 7,
      must_change_password: true,
      quota_override: true,
      billing_plan: 'free',
    })
    expect(data).toMatchObject({
      ...fields,
      organization_id: acme.organizationId,
      domain_id: acme.domainId,
      storage_used: 0,
      must_change_password: false,
      quota_override: false,
    })
    expect(data.id).not.toBe('chosen')
  })

  it('can be at an internationalized domain, in ASCII or Unicode', async () => {
    await acme.post('/api/v1/domains/', { domain: 'bücher.acme.test' })
    const one = await created({ email: 'one@BÜCHER.acme.test' })
    expect(one.email).toBe('one@xn--bcher-kva.acme.test')
    expect(await create({ email: one.email, password: PASSWORD })).toMatchObject({ status: 409 })
  })

  it('is created once by ten requests with one Idempotency-Key, and once by ten without', async () => {
    const body = { email: 'once@acme.test', password: PASSWORD }
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => acme.post(ACCOUNTS, body, { headers })),
    )
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
    const racing = await Promise.all(
      Array.from({ length: 5 }, () => create({ ...body, email: 'race@acme.test' })),
    )
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const winner = racing.find(({ status }) => status === 201)?.body.data.id
    for (const loser of racing.filter(({ status }) => status === 409)) {
      expect(loser.body).toMatchObject({
        error_code: 'MAILBOX_ALREADY_EXISTS',
        data: { existing_id: winner },
      })
    }
    const { length } = await app.core.db
      .selectFrom('email_accounts')
      .select('id')
      .where('email', 'in', ['once@acme.test', 'race@acme.test'])
      .execute()
    expect(length).toBe(2)
  })

  it('created by a platform caller belongs to the organization of its domain', async () => {
    const platform = await app.key(acme.organizationId, { scope: 'platform' })
    const mine = await created({ email: 'by-key@globex.test' }, platform)
    expect(mine.organization_id).toBe(globex.organizationId)
    const taken = await create({ email: globex.email, password: PASSWORD }, platform)
    expect(taken.body.data).toEqual({ existing_id: globex.accountId })
  })

  it('requires write permission', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect(await create({}, reader)).toMatchObject({
      status: 403,
      body: { msg: 'Write access required' },
    })
    expect((await app.send('POST', ACCOUNTS, { body: {} })).status).toBe(401)
  })
})
