import { readFileSync } from 'node:fs'
import type { Insertable } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import type { Tables } from '../../database/tables.ts'
import { ulid } from '../../lib/ulid.ts'
import { LEFT_OUT } from './activity.repository.ts'

const PATH = '/api/v1/activity/'

interface Operation {
  operationId: string
  'x-auth': string
}

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  const org_id = acme.organizationId
  const event = (
    minute: number,
    name: string,
    data: object,
    more: { org_id?: string | null } = {},
  ) => ({
    id: ulid(),
    event: name,
    source: 'test',
    org_id,
    data,
    created_at: `2024-01-10T10:${String(minute).padStart(2, '0')}:00Z`,
    ...more,
  })
  await app.core.db
    .insertInto('events')
    .values([
      event(1, 'mailbox.created', { email: 'jane@acme.test', account_id: 'a' }),
      event(2, 'domain.verified', { domain: 'acme.test' }),
      event(3, 'migration.progress', { job_id: 'j' }),
      event(3, 'email.delivered', { recipient: 'jane@acme.test' }),
      event(3, 'auth.login.success', { user: 'jane@acme.test' }),
      event(3, 'transport_rule.triggered', { name: 'a rule' }),
      event(3, 'compliance.hold.placed', { user_email: 'jane@acme.test' }),
      event(4, 'mailbox.deleted', { email: 'bob@acme.test' }),
      event(4, 'user.invited', { email: 'eve@acme.test' }),
      event(5, 'mailbox.created', { email: 'x@globex.test' }, { org_id: globex.organizationId }),
      event(6, 'health.service.down', { service: 'postfix' }, { org_id: null }),
    ])
    .execute()
  const entry = (
    minute: number,
    action: string,
    more: Partial<Insertable<Tables['operator_audit']>> = {},
  ): Insertable<Tables['operator_audit']> => ({
    operator_id: 'o',
    operator_email: 'secret.operator@ops.test',
    caller_scope: 'platform',
    action,
    organization_id: org_id,
    result: 'success',
    status_code: 200,
    ip_address: '192.0.2.77',
    request_body: { reason: 'a secret reason' },
    created_at: `2024-01-10T10:${String(minute).padStart(2, '0')}:30Z`,
    ...more,
  })
  await app.core.db
    .insertInto('operator_audit')
    .values([
      entry(2, 'update_domain', { target_type: 'domain_id', target_id: acme.domainId }),
      entry(2, 'get_domain', { target_type: 'domain_id', target_id: acme.domainId }),
      entry(2, 'failed_auth_summary'),
      entry(2, 'delete_domain', { result: 'failure', status_code: 403 }),
      entry(2, 'hold_mail', { status_code: 202 }),
      entry(3, 'delete_email_account', { target_type: 'account_id', target_id: ulid() }),
      entry(3, 'create_legal_hold'),
      entry(3, 'create_operator', { caller_scope: 'organization' }),
      entry(5, 'update_organization', { organization_id: globex.organizationId }),
      entry(6, 'create_operator', { organization_id: null }),
    ])
    .execute()
})
afterAll(() => app.stop())

interface Item {
  action: string
  subject: string | null
}
const BEFORE = 'date_to=2024-01-31'
const pageOf = async (query: string, client: Pick<typeof acme, 'get'> = acme) => {
  const { status, body } = await client.get(`${PATH}?${BEFORE}&${query}`)
  expect(body).toMatchObject({ type: 'success', msg: 'Activity retrieved' })
  expect(status).toBe(200)
  return body.data as { items: Item[]; pagination: object }
}
const actions = async (query: string, client?: Pick<typeof acme, 'get'>) =>
  (await pageOf(query, client)).items.map(({ action }) => action)

const ALL = [
  'user.invited',
  'mailbox.deleted',
  'delete_email_account',
  'update_domain',
  'domain.verified',
  'mailbox.created',
]

describe('GET /activity/', () => {
  it('merges events and changes by operators, newest first', async () => {
    const { items, pagination } = await pageOf('')
    expect(items.map(({ action }) => action)).toEqual(ALL)
    expect(pagination).toEqual({ page: 1, per_page: 50, total: 6, total_pages: 1 })
    expect(items[3]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      kind: 'operator',
      action: 'update_domain',
      summary: 'Update domain',
      subject: 'acme.test',
      created_at: '2024-01-10T10:02:30.000Z',
    })
    expect(items[5]).toMatchObject({
      kind: 'event',
      summary: 'A mailbox was created',
      subject: 'jane@acme.test',
    })
  })

  it('shows a tenant neither the operator nor the reason', async () => {
    const { text } = await acme.get(`${PATH}?${BEFORE}`)
    expect(text).not.toMatch(/secret|192\.0\.2\.77|operator_id/)
  })

  it('returns the same rows in pages', async () => {
    const seen: string[] = []
    for (const page of [1, 2, 3]) {
      seen.push(...(await actions(`per_page=2&page=${page}`)))
    }
    expect(seen).toEqual(ALL)
    expect(await pageOf('per_page=2&page=4')).toMatchObject({
      items: [],
      pagination: { total: 6, total_pages: 3 },
    })
    expect(await actions('page=9007199254740991')).toEqual([])
  })

  it.each([
    ['kind=operator', ['delete_email_account', 'update_domain']],
    [
      'kind=event&q=ACME.TEST',
      ['user.invited', 'mailbox.deleted', 'domain.verified', 'mailbox.created'],
    ],
    ['action=mailbox.created', ['mailbox.created']],
    ['action=mailbox.*', ['mailbox.deleted', 'mailbox.created']],
    ['action=mail*', []],
    ['q=Jane', ['mailbox.created']],
    ['q=domain', ['update_domain', 'domain.verified']],
    ['q=%25', []],
    ['date_from=2024-01-10T10:03:00Z', ['user.invited', 'mailbox.deleted', 'delete_email_account']],
    ['date_from=2024-01-11', []],
  ])('filters by %s', async (query, expected) => {
    expect(await actions(query)).toEqual(expected)
  })

  it.each([
    ['kind=audit', 'kind must be one of event, operator'],
    ['date_from=yesterday', 'date_from/date_to must be ISO dates or datetimes'],
    ['page=0', 'page must be at least 1'],
  ])('refuses the query %s', async (query, msg) => {
    expect(await acme.get(`${PATH}?${query}`)).toMatchObject({ status: 422, body: { msg } })
  })

  it('shows each organization its own, and the platform the one it names', async () => {
    const own = ['update_organization', 'mailbox.created']
    expect(await actions('', globex)).toEqual(own)
    expect(await actions(`organization_id=${globex.organizationId}`)).toEqual(ALL)
    const operator = await app.operator('support')
    expect(await actions(`organization_id=${globex.organizationId}`, operator)).toEqual(own)
    expect(await actions('', operator)).toEqual([...own, ...ALL])
  })

  it('is for dashboard users and for keys that may read it', async () => {
    const user = await app.dashboard(acme.email)
    expect(await actions('', user)).toEqual(ALL)
    const limited = await app.key(acme.organizationId, { scopes: ['domains:admin'] })
    expect((await limited.get(PATH)).status).toBe(403)
    const reader = await app.key(acme.organizationId, { scopes: ['activity:read'] })
    expect(await actions('', reader)).toEqual(ALL)
    expect((await app.send('GET', PATH)).status).toBe(401)
  })

  it('lists a change of a tenant, and the change of an operator with its audit row', async () => {
    const operator = await app.operator('admin')
    const path = `/api/v1/mailboxes/email-accounts/${globex.accountId}`
    expect((await globex.put(path, { name: 'New name' })).status).toBe(200)
    expect((await operator.put(path, { name: 'Other name' })).status).toBe(200)
    const { body } = await globex.get(`${PATH}?date_from=2024-02-01`)
    const found = body.data.items as (Item & { kind: string })[]
    expect(found.map(({ kind, action, subject }) => `${kind} ${action} ${subject}`).sort()).toEqual(
      [
        `event mailbox.updated ${globex.email}`,
        `event mailbox.updated ${globex.email}`,
        `operator update_email_account ${globex.email}`,
      ],
    )
  })
})

it('lists every operation that changes something, except in compliance, and no read', () => {
  const { paths } = JSON.parse(readFileSync('openapi/v1.json', 'utf8'))
  const routes = Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, route]) => ({ path, method, route })),
  )
  const wrong = routes
    .filter(({ route }) => /^(Key|Operator|Platform)\(/.test(route['x-auth']))
    .filter(({ path, method, route }) => {
      const isLeftOut = method === 'get' || /compliance\/(?!retention)/.test(path)
      return new RegExp(LEFT_OUT).test(route.operationId) !== isLeftOut
    })
    .map(({ route }) => route.operationId)
  expect(wrong).toEqual([])
})
