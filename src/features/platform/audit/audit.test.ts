import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { insertEntries } from '../../../http/audit.repository.ts'

let app: App
let support: Awaited<ReturnType<App['operator']>>
const AUDIT = '/api/v1/platform/audit'

/** The prefix `seeded_` separates these rows from those that the requests of the test add. */
const seeded = [
  ['seeded_create', 'domain_id', 'd1', '2024-01-10T00:00:00.000Z'],
  ['seeded_update', 'domain_id', 'd2', '2024-01-10T12:00:00.000Z'],
  ['seeded_delete', 'org_id', 'o1', '2024-01-10T23:59:59.999Z'],
  ['seeded_delete', 'org_id', 'o2', '2024-01-11T00:00:00.000Z'],
  ['seeded_list', null, null, '2024-01-12T08:30:00.000Z'],
  ['seeded_list', null, null, '2024-01-13T08:30:00.000Z'],
] as const

beforeAll(async () => {
  app = await startApp()
  support = await app.operator('support')
  await insertEntries(
    app.core.db,
    seeded.map(([action, target_type, target_id, created_at], index) => ({
      operator_id: index < 3 ? 'ann' : 'bob',
      operator_email: index < 3 ? 'ann@seed.test' : 'bob_x@seed.test',
      caller_scope: index === 4 ? 'organization' : 'platform',
      action,
      target_type,
      target_id,
      organization_id: index === 2 ? 'acme' : null,
      request_body: { index },
      result: index === 1 ? 'failure' : 'success',
      status_code: index === 1 ? 409 : 200,
      ip_address: '192.0.2.7',
      correlation_id: `req_${index}`,
      created_at,
    })),
  )
})
afterAll(() => app.stop())

interface Item {
  id: number
  action: string
  request_body: { index: number }
  created_at: string
}

const list = async (query: string) => {
  const answer = await support.get(`${AUDIT}?${query}`)
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Audit entries retrieved' } })
  return answer.body.data as { items: Item[]; pagination: object }
}
const indexes = async (query: string) =>
  (await list(`q=seeded_&${query}`)).items.map(({ request_body }) => request_body.index)

describe('the list of audit entries', () => {
  it.each([
    ['result=denied', 'result must be one of success, failure'],
    ['caller_scope=all', 'caller_scope must be one of platform, organization'],
    ['date_from=yesterday', 'date_from/date_to must be ISO dates or datetimes'],
    ['date_to=2024-13-45', 'date_from/date_to must be ISO dates or datetimes'],
    ['date_to=2024-02-30', 'date_from/date_to must be ISO dates or datetimes'],
    ['date_from=0000-01-01', 'date_from/date_to must be ISO dates or datetimes'],
    ['date_to=9999-12-31T23:59:59-12:00', 'date_from/date_to must be ISO dates or datetimes'],
    ['page=0', 'page must be at least 1'],
    ['per_page=x', 'per_page must be a whole number'],
  ])('rejects the query %s with 422', async (query, msg) => {
    expect(await support.get(`${AUDIT}?${query}`)).toMatchObject({
      status: 422,
      body: { type: 'error', msg },
    })
  })

  it('returns pages of full entries, newest first', async () => {
    const { items, pagination } = await list('q=seeded_&per_page=4')
    expect(items.map(({ request_body }) => request_body.index)).toEqual([5, 4, 3, 2])
    expect(pagination).toEqual({ page: 1, per_page: 4, total: 6, total_pages: 2 })
    expect(items[3]).toEqual({
      id: expect.any(Number),
      operator_id: 'ann',
      operator_email: 'ann@seed.test',
      api_key_id: null,
      caller_scope: 'platform',
      action: 'seeded_delete',
      target_type: 'org_id',
      target_id: 'o1',
      organization_id: 'acme',
      request_body: { index: 2 },
      result: 'success',
      status_code: 200,
      ip_address: '192.0.2.7',
      correlation_id: 'req_2',
      created_at: '2024-01-10T23:59:59.999Z',
    })
    expect(await indexes('per_page=4&page=2')).toEqual([1, 0])
    expect(await indexes('page=99999999999999999999')).toEqual([])
    expect((await list('per_page=500')).pagination).toMatchObject({ per_page: 200 })
    expect((await list('q=nothing-like-it')).pagination).toMatchObject({ total: 0, total_pages: 0 })
  })

  it.each([
    ['operator_id=ann', [2, 1, 0]],
    ['operator_id=an', []],
    ['operator_email=bob_x@seed.test', [5, 4, 3]],
    ['operator_email=bobyx@seed.test', []],
    ['action=seeded_delete', [3, 2]],
    ['target_type=domain_id', [1, 0]],
    ['target_id=d2', [1]],
    ['organization_id=acme', [2]],
    ['result=failure', [1]],
    ['caller_scope=organization', [4]],
    ['correlation_id=req_3', [3]],
    ['operator_id=bob&action=seeded_list', [5, 4]],
  ])('filters by the exact value of %s', async (query, expected) => {
    expect(await indexes(query)).toEqual(expected)
  })

  it.each([
    ['seeded_D', [3, 2]],
    ['BOB_X', [5, 4, 3]],
    ['%25', []],
  ])('searches %s in action, target id and operator e-mail address', async (q, expected) => {
    const { items } = await list(`date_to=2024-12-31&q=${q}`)
    expect(items.map(({ request_body }) => request_body.index)).toEqual(expected)
  })

  it.each([
    ['date_from=2024-01-10&date_to=2024-01-10', [2, 1, 0]],
    ['date_from=2024-01-11T00:00:00Z', [5, 4, 3]],
    ['date_to=2024-01-11T00:00:00.000Z', [3, 2, 1, 0]],
    ['date_from=2024-01-10T12:00&date_to=2024-01-10T12:00:00', [1]],
    ['date_to=2024-01-10 12:00:00', [1, 0]],
    ['date_from=2024-01-13T09:30:00%2B01:00', [5]],
  ])('includes both bounds and the whole day of a date: %s', async (query, expected) => {
    expect(await indexes(query.replaceAll(' ', '%20'))).toEqual(expected)
  })
})

describe('a single audit entry', () => {
  it('is returned by its id', async () => {
    const [newest] = (await list('q=seeded_')).items
    expect(await support.get(`${AUDIT}/${newest?.id}`)).toMatchObject({
      status: 200,
      body: { msg: 'Audit entry retrieved', data: newest as object },
    })
  })

  it.each(['999999999', '0', '-1'])('returns 404 for the unknown id %s', async (id) => {
    expect(await support.get(`${AUDIT}/${id}`)).toMatchObject({
      status: 404,
      body: { msg: 'Audit entry not found' },
    })
  })

  it.each(['one', '1.5', '0x10', '1e2', '99999999999999999999', 'facet'])(
    'rejects the id %s with 422, because it is not an integer',
    async (id) => {
      expect((await support.get(`${AUDIT}/${id}`)).status).toBe(422)
    },
  )
})

describe('audit facets', () => {
  it('lists the distinct values in alphabetical order', async () => {
    const { status, body } = await support.get(`${AUDIT}/facets`)
    expect(status).toBe(200)
    expect(body.msg).toBe('Audit facets retrieved')
    const { actions, target_types, operators } = body.data
    expect(actions).toEqual([...new Set<string>(actions)].sort())
    expect(actions.filter((action: string) => action.startsWith('seeded_'))).toEqual([
      'seeded_create',
      'seeded_delete',
      'seeded_list',
      'seeded_update',
    ])
    expect(target_types).toEqual(expect.arrayContaining(['domain_id', 'org_id']))
    expect(operators.filter(({ id }: { id: string }) => id === 'ann' || id === 'bob')).toEqual([
      { id: 'ann', email: 'ann@seed.test' },
      { id: 'bob', email: 'bob_x@seed.test' },
    ])
  })

  it('lists at most 200 values of each facet', async () => {
    await insertEntries(
      app.core.db,
      Array.from({ length: 250 }, (_, index) => ({
        action: `many_${String(index).padStart(3, '0')}`,
        operator_id: `operator-${index}`,
        operator_email: `operator-${index}@seed.test`,
        target_type: `type-${index}`,
        result: 'success' as const,
        status_code: 200,
        ip_address: '192.0.2.7',
        created_at: '2026-11-15T10:00:00Z',
      })),
    )
    const { actions, target_types, operators } = (await support.get(`${AUDIT}/facets`)).body.data
    expect([actions.length, target_types.length, operators.length]).toEqual([200, 200, 200])
  })
})
