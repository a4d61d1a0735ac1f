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
describe('creating a mailbox', () => {
  const refused = (body: object) => create({ password: PASSWORD, ...body })
  const failing = (...errors: string[]) => ({
    status: 400,
    body: { type: 'error', msg: 'Validation failed', data: { errors } },
  })

  it('rejects an empty body', async () => {
    for (const raw of ['', '{}', '[]', 'null', '{']) {
      const answer = await acme.call('POST', ACCOUNTS, undefined, {
        raw,
        headers: { 'content-type': 'application/json' },
      })
      expect(answer).toMatchObject({ status: 400, body: { msg: 'No data provided' } })
    }
  })

  it('returns all problems at once', async () => {
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
  ])('rejects %j with %j', async (body, errors) => {
    expect(await create({ name: 'X', ...body })).toMatchObject(failing(...errors))
  })

  it.each([['1 GiB'], ['1073741824'], [1.5], [1e300], [null], [true], [[]]])(
    'rejects the quota %j',
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
  ])('rejects the address %j', async (email) => {
    expect(await refused({ email })).toMatchObject(failing('Invalid email format'))
  })

  it("rejects an unknown, inactive or another organization's domain", async () => {
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

  it('rejects an existing address in any letter case', async () => {
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

  it('rejects the address of an alias, a shared mailbox or an SMTP login (B7.5)', async () => {
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
    const sharedId = ulid()
    await db
      .insertInto('shared_mailboxes')
      .values({ ...of, id: sharedId, email: 'shared@acme.test', name: 'Shared' })
      .execute()
    await db
      .insertInto('smtp_credentials')
      .values({ ...of, id: ulid(), username: 'smtp@acme.test', secret_hash: '' })
      .execute()
    const shared = { error_code: 'MAILBOX_ALREADY_EXISTS', data: { existing_id: sharedId } }
    for (const [email, owner, code] of [
      ['alias@acme.test', 'an alias', { error_code: 'ADDRESS_IN_USE' }],
      ['shared@acme.test', 'a shared mailbox', shared],
      ['smtp@acme.test', 'an SMTP login', { error_code: 'ADDRESS_IN_USE' }],
    ] as const) {
      expect(await refused({ email })).toMatchObject({
        status: 409,
        body: { msg: `Address ${email} is already used by ${owner}`, ...code },
      })
    }
  })

  it('rejects the external_id of another mailbox', async () => {
    await refused({ email: 'external@acme.test', external_id: 'crm-1' })
    expect(await refused({ email: 'other@acme.test', external_id: 'crm-1' })).toMatchObject({
      status: 409,
      body: { msg: 'Email account with this external_id already exists' },
    })
  })
})
