import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { isSuppressed, suppress } from '../../../hosting/suppressions.repository.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'

const PATH = '/api/v1/tracking'
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
let platform: Awaited<ReturnType<App['key']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  operator = await app.operator('operator')
  platform = await app.key(null, { scope: 'platform' })
})
afterAll(() => app.stop())

const newEmail = () => `x-${ulid().toLowerCase()}@far.test`
const rowsOf = (email: string) =>
  app.core.db
    .selectFrom('suppressions')
    .selectAll()
    .where('email', '=', email)
    .orderBy('suppression_type')
    .execute()
const isOut = (email: string, organizationId = acme.organizationId) =>
  isSuppressed(app.core.db, email, organizationId, app.clock.now())

describe('POST /api/v1/tracking/suppress', () => {
  it('stores a manual suppression in lower case for the organization of the caller', async () => {
    const email = newEmail()
    const answer = await acme.post(`${PATH}/suppress`, {
      email: ` ${email.toUpperCase()}`,
      organization_id: globex.organizationId,
    })
    expect(answer).toMatchObject({
      status: 200,
      body: { type: 'success', data: { status: 'success', email } },
    })
    expect(await rowsOf(email)).toMatchObject([
      {
        organization_id: acme.organizationId,
        suppression_type: 'MANUAL',
        reason: 'manual',
        source: null,
        active: true,
        expires_at: null,
      },
    ])
    expect(await isOut(email, globex.organizationId)).toBe(false)
  })

  it('can be repeated and then updates the reason', async () => {
    const email = newEmail()
    await acme.post(`${PATH}/suppress`, { email })
    await acme.delete(`${PATH}/suppress/${email}`)
    await acme.post(`${PATH}/suppress`, { email, reason: 'asked by telephone' })
    expect(await rowsOf(email)).toMatchObject([{ reason: 'asked by telephone', active: true }])
  })

  it.each([
    [{}, 400, 'Missing email'],
    [{ reason: 'x' }, 400, 'Missing email'],
    [{ email: '' }, 400, 'Missing email'],
    [[], 422, 'Request body must be a JSON object'],
    ['text', 422, 'Request body must be a JSON object'],
    [{ email: 7 }, 422, 'email must be a string'],
    [{ email: 'nobody' }, 422, 'email is not a valid email address'],
    [{ email: 'a b@far.test' }, 422, 'email is not a valid email address'],
    [{ email: 'a@b@far.test' }, 422, 'email is not a valid email address'],
    [{ email: `${'x'.repeat(260)}@far.test` }, 422, 'email is not a valid email address'],
    [{ email: 'a@far.test', reason: 7 }, 422, 'reason must be a string'],
  ])('rejects the body %j with %i', async (body, status, msg) => {
    const answer = await acme.post(`${PATH}/suppress`, body)
    expect({ status: answer.status, msg: answer.body.msg }).toEqual({ status, msg })
    if (status === 400) expect(answer.body.error).toBe(msg)
  })

  it('requires an existing organization from a platform caller', async () => {
    const email = newEmail()
    expect(await platform.post(`${PATH}/suppress`, { email })).toMatchObject({
      status: 422,
      body: { msg: 'organization_id is required for platform-scope callers' },
    })
    expect(await platform.post(`${PATH}/suppress`, { email, organization_id: 'no' })).toMatchObject(
      { status: 404, body: { msg: 'Organization not found' } },
    )
    const organization_id = globex.organizationId
    expect((await platform.post(`${PATH}/suppress`, { email, organization_id })).status).toBe(200)
    expect(await isOut(email, organization_id)).toBe(true)
  })
})

describe('DELETE /api/v1/tracking/suppress/:email', () => {
  it('lifts all suppression types, only for the organization of the caller', async () => {
    const email = newEmail()
    for (const organization_id of [acme.organizationId, globex.organizationId]) {
      for (const type of ['BOUNCE', 'UNSUBSCRIBE', 'MANUAL'] as const) {
        const row = { email, organization_id, reason: 'test', source: null }
        await app.core.db.transaction().execute((tx) => suppress(tx, type, [row], app.clock.now()))
      }
    }
    const answer = await acme.delete(`${PATH}/suppress/${email.toUpperCase()}`)
    expect(answer).toMatchObject({ status: 200, body: { data: { status: 'success', email } } })
    expect(await isOut(email)).toBe(false)
    expect(await isOut(email, globex.organizationId)).toBe(true)
  })

  it('returns 200 when there was no suppression', async () => {
    expect((await acme.delete(`${PATH}/suppress/${newEmail()}`)).status).toBe(200)
  })

  it('requires an organization from a platform caller', async () => {
    const email = newEmail()
    await acme.post(`${PATH}/suppress`, { email })
    expect(await platform.delete(`${PATH}/suppress/${email}`)).toMatchObject({
      status: 422,
      body: { msg: 'organization_id is required for platform-scope callers' },
    })
    const query = `?organization_id=${acme.organizationId}`
    expect((await platform.delete(`${PATH}/suppress/${email}${query}`)).status).toBe(200)
    expect(await isOut(email)).toBe(false)
  })
})

describe('POST /api/v1/tracking/suppressions/bulk', () => {
  const bulk = (body: object) => operator.post(`${PATH}/suppressions/bulk`, body)

  it('suppresses valid addresses once and returns invalid ones as failed', async () => {
    const [one, two] = [newEmail(), newEmail()]
    const answer = await bulk({
      emails: [` ${one} `, two, one.toUpperCase(), 'nonsense'],
      reason: 'bought list',
      suppression_type: 'complaint',
      organization_id: acme.organizationId,
    })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: '2 of 3 addresses suppressed',
        data: {
          suppressed: [
            { email: one, suppression_type: 'COMPLAINT' },
            { email: two, suppression_type: 'COMPLAINT' },
          ],
          failed: [{ email: 'nonsense', error: 'not a valid email address' }],
          requested: 3,
          organization_id: acme.organizationId,
        },
      },
    })
    const [row] = await rowsOf(one)
    expect(row).toMatchObject({ reason: 'bought list', source: 'console', active: true })
    expect(Date.parse(row?.expires_at ?? '') - app.clock.now().getTime()).toBeGreaterThan(
      29 * DAY_MS,
    )
    const audit = await app.core.db
      .selectFrom('operator_audit')
      .selectAll()
      .where('action', '=', 'suppress_addresses')
      .execute()
    expect(audit.at(-1)).toMatchObject({ result: 'success', status_code: 200 })
  })

  it.each([
    [{}, 'organization_id is required for platform-scope callers'],
    [
      { suppression_type: 'OTHER' },
      'suppression_type must be one of BOUNCE, COMPLAINT, UNSUBSCRIBE, MANUAL',
    ],
    [
      { emails: Array.from({ length: 1001 }, (_, n) => `${n}@far.test`) },
      'At most 1000 emails per call (1001 supplied)',
    ],
  ])('rejects %j with 422', async (more, msg) => {
    const answer = await bulk({ emails: ['a@far.test'], reason: 'x', ...more })
    expect({ status: answer.status, msg: answer.body.msg }).toEqual({ status: 422, msg })
  })

  it('accepts 1000 addresses', async () => {
    const emails = Array.from({ length: 1000 }, (_, n) => `bulk-${n}@far.test`)
    const answer = await bulk({ emails, reason: 'x', organization_id: globex.organizationId })
    expect(answer.body.msg).toBe('1000 of 1000 addresses suppressed')
  })

  it.each([{}, { emails: [], reason: 'x' }, { emails: ['a@far.test'], reason: '' }])(
    'returns 422 with details for the incomplete body %j',
    async (body) => {
      const answer = await bulk(body)
      expect(answer).toMatchObject({ status: 422, body: { detail: expect.any(Array) } })
    },
  )

  it('returns 404 for an unknown organization', async () => {
    const answer = await bulk({ emails: ['a@far.test'], reason: 'x', organization_id: 'no' })
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Organization not found' } })
  })
})

describe('the list of suppressions', () => {
  const list = async (query: string) => {
    const { status, body } = await operator.get(`${PATH}/suppressions?${query}`)
    return { status, msg: body.msg, ...body.data } as {
      status: number
      msg: string
      items: { email: string; suppression_type: string }[]
      pagination: object
    }
  }
  const mark = `list${ulid().toLowerCase()}`
  beforeAll(async () => {
    for (const [name, type, organization] of [
      ['b', 'MANUAL', acme],
      ['a', 'UNSUBSCRIBE', acme],
      ['c_100%', 'MANUAL', globex],
    ] as const) {
      const row = {
        email: `${name}-${mark}@far.test`,
        organization_id: organization.organizationId,
        reason: 'test',
        source: null,
      }
      await app.core.db.transaction().execute((tx) => suppress(tx, type, [row], app.clock.now()))
      app.clock.advance(1000)
    }
    await acme.delete(`${PATH}/suppress/a-${mark}@far.test`)
  })
  const names = async (query: string) =>
    (await list(`q=${mark}&${query}`)).items.map(({ email }) => email.split('-')[0])

  it('is paginated, newest first', async () => {
    const found = await list(`q=${mark.toUpperCase()}&per_page=2`)
    expect(found).toMatchObject({
      status: 200,
      msg: 'Suppressions retrieved',
      pagination: { page: 1, per_page: 2, total: 3, total_pages: 2 },
    })
    expect(found.items).toHaveLength(2)
    expect(found.items[0]).toMatchObject({ suppression_type: 'MANUAL', bounce_count: 1 })
    expect((await list('per_page=999')).pagination).toMatchObject({ per_page: 200 })
  })

  it.each([
    ['', ['c_100%', 'a', 'b']],
    ['sort_by=email&sort_dir=ASC', ['a', 'b', 'c_100%']],
    ['active=false', ['a']],
    ['suppression_type=manual', ['c_100%', 'b']],
    ['date_from=2099-01-01', []],
    ['date_to=2020-01-01', []],
  ])('is filtered and sorted by the query "%s"', async (query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  it('filters by organization and takes % and _ in q literally', async () => {
    expect(await names(`organization_id=${globex.organizationId}`)).toEqual(['c_100%'])
    expect((await list(`q=c_100%25-${mark}`)).items).toHaveLength(1)
    expect((await list(`q=c%25${mark}`)).items).toHaveLength(0)
  })

  it.each([
    ['sort_by=reason', 'sort_by must be one of created_at, email'],
    ['sort_dir=up', "sort_dir must be 'asc' or 'desc'"],
    [
      'suppression_type=other',
      'suppression_type must be one of BOUNCE, COMPLAINT, UNSUBSCRIBE, MANUAL',
    ],
    ['date_from=yesterday', 'date_from must be an ISO date or datetime'],
    ['page=0', 'page must be at least 1'],
  ])('rejects the query "%s" with 422', async (query, msg) => {
    expect(await list(query)).toMatchObject({ status: 422, msg })
  })
})

describe('GET /api/v1/suppressions/', () => {
  it('shows a tenant its own and no others, whatever organization it names', async () => {
    const mine = newEmail()
    const theirs = newEmail()
    await acme.post(`${PATH}/suppress`, { email: mine, reason: 'asked for' })
    await globex.post(`${PATH}/suppress`, { email: theirs })
    const named = `?organization_id=${globex.organizationId}&q=`
    const own = await acme.get(`/api/v1/suppressions/${named}${mine}`)
    expect(own).toMatchObject({
      status: 200,
      body: {
        data: {
          items: [{ email: mine, suppression_type: 'MANUAL', reason: 'asked for', active: true }],
          pagination: { total: 1 },
        },
      },
    })
    const other = await acme.get(`/api/v1/suppressions/${named}${theirs}`)
    expect(other.body.data.items).toEqual([])
    const seen = await platform.get(`/api/v1/suppressions/${named}${theirs}`)
    expect(seen.body.data.items).toHaveLength(1)
  })
})
