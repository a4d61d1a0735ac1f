import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { ACCOUNTS } from '../../../test/support/mailboxes.ts'
import { ulid } from '../../lib/ulid.ts'

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

const create = (body: object) => acme.post(ACCOUNTS, body)
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
    ['john@acme.test\n'],
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
    await refused({ email: 'external@acme.test', external_id: 'crm-1' })
    expect(await refused({ email: 'other@acme.test', external_id: 'crm-1' })).toMatchObject({
      status: 409,
      body: { msg: 'Email account with this external_id already exists' },
    })
  })
})
