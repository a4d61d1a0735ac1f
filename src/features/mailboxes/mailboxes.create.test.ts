import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { passwordMatches } from '../../lib/passwords.ts'
import { ulid } from '../../lib/ulid.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'
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
const stored = (id: string) =>
  app.core.db.selectFrom('email_accounts').selectAll().where('id', '=', id).executeTakeFirst()
const eventsOf = async (id: string) =>
  (await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()).filter(
    ({ data }) => (data as { account_id?: string }).account_id === id,
  )

describe('a new mailbox that is refused', () => {
  const refused = (body: object) => create({ password: PASSWORD, ...body })
  const failing = (...errors: string[]) => ({
    status: 400,
    body: { type: 'error', msg: 'Validation failed', data: { errors } },
  })

  it('has no data', async () => {
    for (const raw of ['', '{}', '[]', 'null', '{']) {
      const answer = await acme.call('POST', ACCOUNTS, undefined, {
        raw,
        headers: { 'content-type': 'application/json' },
      })
      expect(answer).toMatchObject({ status: 400, body: { msg: 'No data provided' } })
    }
  })

  it('is told all of its problems at once', async () => {
    const answer = await create({
      email: 'no-address',
      password: 'short1',
      storage_quota: -1,
      status: 'Active',
      rate_limits: [],
      storage_quotas: null,
      forward_enabled: 'yes',
      vacation_enabled: 1,
      name: 7,
      external_id: 'x'.repeat(256),
      vacation_message: 'x'.repeat(20_001),
      forward_destination: 'x@acme.test\r\nBcc: y@acme.test',
    })
    expect(answer).toMatchObject(
      failing(
        'Invalid email format',
        'Password must be at least 12 characters long',
        'Storage quota must be non-negative',
        'Invalid account status',
        'rate_limits must be an object',
        'storage_quotas must be an object',
        'forward_enabled must be a boolean',
        'vacation_enabled must be a boolean',
        'name must be a string',
        'External ID must be 255 characters or less',
        'Vacation message must be 20000 characters or less',
        'Invalid forward destination',
      ),
    )
  })

  const missing = ['Email address is required', 'Password is required']
  it.each<[object, string[]]>([
    [{}, missing],
    [{ email: 7, password: 7 }, missing],
    [{ email: ' ', password: '' }, missing],
    [{ email: 'x@acme.test', password: '123456789012' }, ['Password must contain letters']],
    [{ email: 'x@acme.test', password: 'only-letters-here' }, ['Password must contain numbers']],
    [
      { email: 'x@acme.test', password: 'PASSWORD1234' },
      ['Password is too common; choose something less predictable'],
    ],
  ])('%j is told %j', async (body, errors) => {
    expect(await create({ name: 'X', ...body })).toMatchObject(failing(...errors))
  })

  it.each([['1 GiB'], ['1073741824'], [1.5], [1e300], [null], [true], [[]]])(
    'asks for the quota %j',
    async (storage_quota) => {
      expect(await refused({ email: 'x@acme.test', storage_quota })).toMatchObject(
        failing('Storage quota must be a valid number'),
      )
    },
  )

  it.each([
    ['"john doe"@acme.test'],
    ['.john@acme.test'],
    ['john.@acme.test'],
    ['jo..hn@acme.test'],
    ['john@acme.test@globex.test'],
    ['john@acme'],
    ['jоhn@acme.test'],
    ['\u212Aate@acme.test'],
    ['john\r\n@acme.test'],
    ['john\u0007@acme.test'],
    ['john@acme.test/inbox'],
    ['john@[127.0.0.1]'],
    [`${'x'.repeat(65)}@acme.test`],
  ])('is called %j', async (email) => {
    expect(await refused({ email })).toMatchObject(failing('Invalid email format'))
  })

  it('is at a domain that is not there, is inactive, or is somebody else’s', async () => {
    const away = await acme.post('/api/v1/domains/', { domain: 'away.acme.test' })
    await acme.put(`/api/v1/domains/${away.body.data.id}`, { active: false })
    for (const [email, domain] of [
      ['x@nowhere.test', 'nowhere.test'],
      ['x@away.acme.test', 'away.acme.test'],
      ['x@GLOBEX.test', 'globex.test'],
      [globex.email, 'globex.test'],
      ['x@аcme.test', 'xn--cme-5cd.test'],
    ]) {
      expect(await refused({ email })).toMatchObject({
        status: 400,
        body: { msg: `Domain ${domain} not found or inactive` },
      })
    }
  })

  it('exists, in whatever case', async () => {
    const answer = await refused({ email: acme.email.toUpperCase() })
    expect(answer).toMatchObject({
      status: 409,
      body: {
        msg: 'Email account admin@acme.test already exists',
        error_code: 'MAILBOX_ALREADY_EXISTS',
        data: { existing_id: acme.accountId },
      },
    })
  })

  it('has an address that belongs to an alias, a shared mailbox or an SMTP login', async () => {
    const of = { organization_id: acme.organizationId, domain_id: acme.domainId }
    const { db } = app.core
    await db
      .insertInto('aliases')
      .values({
        ...of,
        id: ulid(),
        source: 'alias@acme.test',
        destination: 'a@b.test',
        destinations: ['a@b.test'],
      })
      .execute()
    await db
      .insertInto('shared_mailboxes')
      .values({ ...of, id: ulid(), email: 'shared@acme.test', name: 'Shared' })
      .execute()
    await db
      .insertInto('smtp_credentials')
      .values({ ...of, id: ulid(), username: 'smtp@acme.test', secret_hash: '' })
      .execute()
    for (const [email, owner] of [
      ['alias@acme.test', 'an alias'],
      ['shared@acme.test', 'a shared mailbox'],
      ['smtp@acme.test', 'an SMTP login'],
    ]) {
      const answer = await refused({ email })
      expect(answer).toMatchObject({
        status: 409,
        body: { msg: `Address ${email} is already used by ${owner}` },
      })
      expect(answer.body.error_code).toBeUndefined()
    }
  })

  it('has the external_id of another one', async () => {
    await created({ email: 'external@acme.test', external_id: 'crm-1' })
    expect(await refused({ email: 'other@acme.test', external_id: 'crm-1' })).toMatchObject({
      status: 409,
      body: { msg: 'Email account with this external_id already exists' },
    })
  })
})

describe('a new mailbox', () => {
  it('is stored in lower case, with its defaults, and never tells its password', async () => {
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
    const row = await stored(data.id)
    expect(row?.password_hash).toMatch(/^\$argon2id\$/)
    expect(await passwordMatches(PASSWORD, row?.password_hash)).toBe(true)
    const events = await eventsOf(data.id)
    expect(events).toMatchObject([
      {
        event: 'mailbox.created',
        source: 'api',
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

  it('takes everything it is given, and ignores what nobody has a say in', async () => {
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

  it('may be at a domain with letters of its own, written either way', async () => {
    await acme.post('/api/v1/domains/', { domain: 'bücher.acme.test' })
    const one = await created({ email: 'one@BÜCHER.acme.test' })
    expect(one.email).toBe('one@xn--bcher-kva.acme.test')
    expect(await create({ email: one.email, password: PASSWORD })).toMatchObject({ status: 409 })
  })

  it('is created once by ten requests with one Idempotency-Key, and once without', async () => {
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

  it('of a platform caller belongs to the organization of its domain', async () => {
    const platform = await app.key(acme.organizationId, { scope: 'platform' })
    const mine = await created({ email: 'by-key@globex.test' }, platform)
    expect(mine.organization_id).toBe(globex.organizationId)
    const taken = await create({ email: globex.email, password: PASSWORD }, platform)
    expect(taken.body.data).toEqual({ existing_id: globex.accountId })
  })

  it('needs a credential that may write', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect(await create({}, reader)).toMatchObject({
      status: 403,
      body: { msg: 'Write access required' },
    })
    expect((await app.send('POST', ACCOUNTS, { body: {} })).status).toBe(401)
  })
})
