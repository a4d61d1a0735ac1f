import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

let app: App
let support: Awaited<ReturnType<App['operator']>>
const TRACE = '/api/v1/message-trace/trace'
const AUDIT = '/api/v1/message-trace/audit'

const rows = [
  [
    'shop@acme.test',
    'jane@far.test',
    'Your order',
    'delivered',
    '<1@acme.test>',
    '2024-01-10T00:00:00.000Z',
  ],
  [
    'shop@acme.test',
    'bob@far.test',
    'Your order 100%',
    'bounced',
    '<2@acme.test>',
    '2024-01-10T12:00:00.000Z',
  ],
  [
    'ann@globex.test',
    'jane@far.test',
    'ORDER',
    'deferred',
    '<3@globex.test>',
    '2024-01-10T23:59:59.999Z',
  ],
  [
    'ann@globex.test',
    'jane@far.test',
    'ORDER',
    'delivered',
    '<3@globex.test>',
    '2024-01-11T00:00:00.000Z',
  ],
  ['', 'x@acme.test', null, 'rejected', null, '2024-01-12T00:00:00.000Z'],
] as const

beforeAll(async () => {
  app = await startApp()
  support = await app.operator('support')
  await app.core.db
    .insertInto('mail_log')
    .values(
      rows.map(([sender, recipient, subject, status, message_id, timestamp], index) => ({
        id: `row-${index}`,
        timestamp,
        sender,
        recipient,
        subject,
        status,
        message_id,
        organization_id: sender.includes('globex') ? 'globex' : 'acme',
        bounce_reason: status === 'delivered' ? null : 'why not',
        size: 100 + index,
        queue_id: status === 'rejected' ? 'NOQUEUE' : `QUEUE${index}`,
        sasl_username: index === 1 ? 'Shop-App' : 'ann',
        credential_id: `credential-${index}`,
      })),
    )
    .execute()
})
afterAll(() => app.stop())

const found = async (query: string) => {
  const { status, body } = await support.get(`${TRACE}?${query}`)
  expect(body).toMatchObject({ type: 'success', msg: 'Messages retrieved' })
  expect(status).toBe(200)
  return (body.data as { id: string }[]).map(({ id }) => Number(id.slice(4)))
}

describe('message trace', () => {
  it.each([
    ['status=sent', 'status must be one of delivered, bounced, deferred, rejected, held'],
    ['limit=0', 'limit must be at least 1'],
    ['limit=501', 'limit must be at most 500'],
    ['offset=-1', 'offset must be at least 0'],
    ['start_date=yesterday', 'start_date/end_date must be ISO dates or datetimes'],
    ['end_date=2024-02-30', 'start_date/end_date must be ISO dates or datetimes'],
  ])('rejects the query %s', async (query, msg) => {
    expect(await support.get(`${TRACE}?${query}`)).toMatchObject({ status: 422, body: { msg } })
  })

  it('returns complete rows, newest first', async () => {
    const { body } = await support.get(`${TRACE}?limit=2&offset=2`)
    expect(body.data).toEqual([
      {
        id: 'row-2',
        timestamp: '2024-01-10T23:59:59.999Z',
        sender: 'ann@globex.test',
        recipient: 'jane@far.test',
        subject: 'ORDER',
        status: 'deferred',
        message_id: '<3@globex.test>',
        size: 102,
        relay: null,
        dsn: null,
        spam_score: null,
        bounce_reason: 'why not',
        queue_id: 'QUEUE2',
        login: 'ann',
        credential_id: 'credential-2',
        quarantine_id: null,
      },
      expect.objectContaining({ id: 'row-1' }),
    ])
    expect(await found('')).toEqual([4, 3, 2, 1, 0])
    expect(await found('offset=99999999999999999999')).toEqual([])
  })

  it.each([
    ['sender=SHOP@acme.test', [1, 0]],
    ['sender=hop@acme.test', []],
    ['sender=globex', [3, 2]],
    ['recipient=jane@far.test', [3, 2, 0]],
    ['recipient=far', [3, 2, 1, 0]],
    ['subject=order', [3, 2, 1, 0]],
    ['subject=100%25', [1]],
    ['subject=1_0', []],
    ['status=delivered', [3, 0]],
    ['message_id=3@globex.test', [3, 2]],
    ['message_id=%3C3@globex.test%3E', [3, 2]],
    ['organization_id=acme', [4, 1, 0]],
    ['organization_id=nobody', []],
    ['login=ann', [4, 3, 2, 0]],
    // B8: the login that sent a message, whatever its sender address.
    ['login=shop-APP', [1]],
    ['login=shop-app&status=delivered', []],
    ['login=hop-app', []],
    ['start_date=2024-01-10&end_date=2024-01-10', [2, 1, 0]],
    ['start_date=2024-01-11T00:00:00Z', [4, 3]],
    ['recipient=jane@far.test&status=delivered&organization_id=globex', [3]],
  ])('filters by %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })
})

describe('B5.10: the trace of mail that was not delivered', () => {
  let acme: Awaited<ReturnType<App['tenant']>>
  beforeAll(async () => {
    acme = await app.tenant('acme')
    const quarantined = (id: string, status: 'quarantined' | 'released', hour: string) => ({
      id,
      organization_id: acme.organizationId,
      message_id: '<held@acme.test>',
      queue_id: 'HELD01',
      sender: 'Held@acme.test',
      login: 'acme-login',
      recipient: 'jane@far.test',
      subject: 'Secret',
      reason: 'policy' as const,
      status,
      expires_at: '2024-03-01T00:00:00Z',
      created_at: `2023-06-01T${hour}:00:00Z`,
    })
    await app.core.db
      .insertInto('quarantine')
      .values([quarantined('q-1', 'released', '08'), quarantined('q-2', 'quarantined', '10')])
      .execute()
    await app.core.db
      .insertInto('mail_log')
      .values({
        id: 'after-release',
        timestamp: '2023-06-01T09:00:00Z',
        sender: 'held@acme.test',
        recipient: 'jane@far.test',
        status: 'delivered',
        message_id: '<held@acme.test>',
        organization_id: acme.organizationId,
      })
      .execute()
  })
  const search = async (query: string) => (await support.get(`${TRACE}?${query}`)).body

  it('shows held messages among the others, with login, queue id and quarantine id', async () => {
    const { data, total } = await search('sender=held@acme.test')
    expect(total).toBe(3)
    expect(data).toMatchObject([
      { status: 'held', quarantine_id: 'q-2', queue_id: 'HELD01', login: 'acme-login' },
      { id: 'after-release', status: 'delivered', quarantine_id: null },
      { status: 'released', quarantine_id: 'q-1', bounce_reason: 'Held back: policy' },
    ])
    expect((await search('sender=held@acme.test&limit=1&offset=1')).data).toEqual([data[1]])
    expect((await search('sender=held@acme.test&limit=1&offset=1')).total).toBe(3)
  })

  it('finds what is held now, and what was refused', async () => {
    expect(await search('status=held')).toMatchObject({ total: 1, data: [{ id: 'q-2' }] })
    expect(await search('status=rejected')).toMatchObject({
      total: 1,
      data: [{ id: 'row-4', queue_id: 'NOQUEUE', bounce_reason: 'why not' }],
    })
    const query = `organization_id=${acme.organizationId}&status=held&subject=secret`
    expect(await search(query)).toMatchObject({ total: 1 })
    expect(await search('login=ACME-login')).toMatchObject({
      total: 2,
      data: [{ quarantine_id: 'q-2' }, { quarantine_id: 'q-1' }],
    })
    expect(await search(`${query}&end_date=2023-05-31`)).toMatchObject({ total: 0, data: [] })
  })

  it('shows the whole way of a held message in its timeline', async () => {
    const { body } = await support.get(`${TRACE}/held%40acme.test`)
    expect(body.data.deliveries.map(({ status }: { status: string }) => status)).toEqual([
      'released',
      'delivered',
      'held',
    ])
  })
})

describe('message timeline', () => {
  it.each(['3@globex.test', '<3@globex.test>'])(
    'returns deliveries in order for the Message-ID %s',
    async (id) => {
      const { status, body } = await support.get(`${TRACE}/${encodeURIComponent(id)}`)
      expect(status).toBe(200)
      expect(body.data).toMatchObject({
        message_id: '<3@globex.test>',
        deliveries: [
          { id: 'row-2', status: 'deferred' },
          { id: 'row-3', status: 'delivered' },
        ],
        audit_events: [],
      })
    },
  )

  it('returns 404 for an unknown Message-ID', async () => {
    expect(await support.get(`${TRACE}/nobody%40nowhere.test`)).toMatchObject({
      status: 404,
      body: { msg: 'Message not found' },
    })
  })
})

describe('message audit events', () => {
  it('returns operator actions and failed logins, newest first', async () => {
    await app.core.db
      .insertInto('failed_auth_attempts')
      .values({
        id: 'failed-1',
        client_ip: '192.0.2.9',
        username: null,
        service: 'imap',
        failure_reason: 'bad_password',
        first_attempt_at: '2024-01-01T00:00:00Z',
        last_attempt_at: '2024-01-01T00:00:01Z',
      })
      .execute()
    await support.get('/api/v1/platform/overview')
    const of = async (query: string) => {
      const { status, body } = await support.get(`${AUDIT}?${query}`)
      expect(status).toBe(200)
      return body.data as Record<string, unknown>[]
    }
    expect(await of('client_ip=192.0.2.9')).toEqual([
      {
        id: 'failed-1',
        event_type: 'auth.login.failure',
        event_source: 'imap',
        organization_id: null,
        user_email: null,
        client_ip: '192.0.2.9',
        severity: 'warning',
        details: { failure_reason: 'bad_password', attempt_count: 1, blocked_until: null },
        created_at: '2024-01-01T00:00:01.000Z',
      },
    ])
    const mine = async () => of(`user_email=${support.email}&event_type=platform_overview`)
    await expect
      .poll(mine, { timeout: 60_000 })
      .toMatchObject([{ event_source: 'console', severity: 'info', details: { status_code: 200 } }])
    expect((await of('limit=1000')).at(-1)).toMatchObject({ id: 'failed-1' })
    expect((await support.get(`${AUDIT}?client_ip=192.0.2.9`)).body.total).toBe(1)
    expect(await of('end_date=2023-12-31')).toEqual([])
    expect(await of('severity=critical')).toEqual([])
  })

  it('rejects an unknown severity', async () => {
    expect(await support.get(`${AUDIT}?severity=loud`)).toMatchObject({
      status: 422,
      body: { msg: 'severity must be one of info, warning, critical' },
    })
  })
})
