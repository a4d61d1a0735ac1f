import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { startMailServers } from '../../../../test/support/mail-servers.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'

const BASE = '/api/v1/security/failed-auth'
const WHY = { reason: 'password spraying' }

let mail: Awaited<ReturnType<typeof startMailServers>>
let app: App
let other: App
let acme: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  mail = await startMailServers()
  app = await startApp({ env: mail.env })
  other = await startApp({ env: mail.env, database: app.database })
  acme = await app.tenant('acme')
  operator = await app.operator('operator')
})
afterAll(async () => {
  await other.stop()
  await app.stop()
  await mail.stop()
})

interface Row {
  client_ip: string
  username: string | null
  service: string
  attempt_count?: number
  minutesAgo?: number
  blocked_until?: string
}
const insertRows = async (list: Row[]) => {
  const at = (minutes: number) => new Date(app.clock.now().getTime() - minutes * MINUTE_MS)
  await app.core.db
    .insertInto('failed_auth_attempts')
    .values(
      list.map(({ minutesAgo = 1, ...row }) => ({
        id: ulid(),
        first_attempt_at: at(minutesAgo + 5).toISOString(),
        last_attempt_at: at(minutesAgo).toISOString(),
        failure_reason: 'invalid_credentials',
        ...row,
      })),
    )
    .execute()
}
const login = (from: string, on = app) =>
  on.send('POST', '/api/v1/auth/login', { body: { email: acme.email, password: PASSWORD }, from })
const block = (ip: string, minutes: unknown = 60, body: object = WHY) =>
  operator.post(`${BASE}/${encodeURIComponent(ip)}/block`, { minutes, ...body })
const unblock = (ip: string, body: object = WHY) =>
  operator.delete(`${BASE}/${encodeURIComponent(ip)}/block`, body)
const attempts = async (query: string) => {
  const answer = await operator.get(`${BASE}?${query}`)
  expect(answer.status).toBe(200)
  return answer.body.data.items as (Row & { blocked: boolean })[]
}

describe('list of failed logins', () => {
  it.each([
    ['service=telnet', /^service must be one of smtp, imap/],
    ['date_from=yesterday', /^date_from\/date_to must be ISO dates or datetimes$/],
    ['date_to=2026-02-30', /^date_from\/date_to must be ISO dates or datetimes$/],
    ['blocked=perhaps', /^blocked must be/],
    ['sort_by=username', /^sort_by must be one of last_attempt_at, attempt_count/],
    ['sort_dir=sideways', /^sort_dir must be 'asc' or 'desc'$/],
    ['page=0', /^page must be at least 1$/],
  ])('rejects the query %s with 422', async (query, message) => {
    const { status, body } = await operator.get(`${BASE}?${query}`)
    expect({ status, msg: body.msg }).toEqual({ status: 422, msg: expect.stringMatching(message) })
  })

  it('filters by every column, normalizes IP and case, and sorts', async () => {
    await insertRows([
      { client_ip: '2001:db8::/64', username: 'jane@list.test', service: 'imap', attempt_count: 9 },
      { client_ip: '198.51.100.4', username: 'joe@list.test', service: 'smtp', attempt_count: 4 },
      { client_ip: '198.51.100.5', username: 'x@list.test', service: 'pop3', minutesAgo: 3000 },
      {
        client_ip: '198.51.100.6',
        username: 'y@list.test',
        service: 'sieve',
        blocked_until: new Date(app.clock.now().getTime() + MINUTE_MS).toISOString(),
        minutesAgo: 2,
      },
    ])
    const users = async (query: string) => (await attempts(query)).map(({ username }) => username)
    expect(await users('client_ip=2001:0DB8:0::7')).toEqual(['jane@list.test'])
    expect(await users('username=JOE@list.test')).toEqual(['joe@list.test'])
    expect(await users('service=pop3')).toEqual(['x@list.test'])
    expect(await users('blocked=true')).toEqual(['y@list.test'])
    expect(await users('q=198.51.100&blocked=false&sort_by=attempt_count')).toEqual([
      'joe@list.test',
      'x@list.test',
    ])
    expect(await users('q=list.test&sort_by=first_attempt_at&sort_dir=asc')).toEqual([
      'x@list.test',
      'y@list.test',
      expect.stringMatching(/^(jane|joe)@/),
      expect.stringMatching(/^(jane|joe)@/),
    ])
    const yesterday = new Date(app.clock.now().getTime() - DAY_MS).toISOString()
    expect(await users(`q=list.test&date_to=${yesterday}`)).toEqual(['x@list.test'])
    expect(await users(`q=list.test&date_from=${yesterday}`)).toHaveLength(3)
    expect(await users('q=%25')).toEqual([])
    const [row] = await attempts('username=jane@list.test')
    expect(row).toEqual({
      id: expect.any(String),
      client_ip: '2001:db8::/64',
      username: 'jane@list.test',
      service: 'imap',
      failure_reason: 'invalid_credentials',
      attempt_count: 9,
      blocked_until: null,
      blocked: false,
      first_attempt_at: expect.any(String),
      last_attempt_at: expect.any(String),
    })
  })
})

describe('summary of failed logins', () => {
  it('sums the counters and counts an API login once although it has two rows', async () => {
    const alone = await startApp()
    const watcher = await alone.operator('operator')
    const tenant = await alone.tenant('acme')
    const from = newIp()
    for (let i = 0; i < 2; i++) {
      await alone.send('POST', '/api/v1/auth/login', {
        body: { email: tenant.email, password: 'wrong' },
        from,
      })
    }
    const at = alone.clock.now()
    const row = (more: object, hoursAgo = 0) => ({
      id: ulid(),
      service: 'imap',
      client_ip: '198.51.100.7',
      username: 'jane@acme.test',
      first_attempt_at: at.toISOString(),
      last_attempt_at: new Date(at.getTime() - hoursAgo * HOUR_MS).toISOString(),
      ...more,
    })
    await alone.core.db
      .insertInto('failed_auth_attempts')
      .values([
        row({ attempt_count: 10 }),
        row({ attempt_count: 5, username: 'joe@acme.test', service: 'smtp' }, 3),
        row({ attempt_count: 3, client_ip: '' }),
        row({ attempt_count: 1000, client_ip: '198.51.100.8' }, 7),
      ])
      .execute()
    const { status, body } = await watcher.get(`${BASE}/summary?hours=6`)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      window_hours: 6,
      total_attempts: 20,
      distinct_ips: 2,
      distinct_accounts: 3,
      top_ips: [
        {
          client_ip: '198.51.100.7',
          attempt_count: 15,
          distinct_accounts: 2,
          services: ['imap', 'smtp'],
          blocked: false,
        },
        // Dashboard logins count accounts and IP addresses in separate rows (B5.11).
        { client_ip: from, attempt_count: 2, distinct_accounts: 1, services: ['api'] },
      ],
      top_accounts: [
        { username: 'jane@acme.test', attempt_count: 13, distinct_ips: 1 },
        { username: 'joe@acme.test', attempt_count: 5, distinct_ips: 1 },
        { username: tenant.email, attempt_count: 2, distinct_ips: 1 },
      ],
      by_service: [
        { service: 'imap', attempt_count: 13 },
        { service: 'smtp', attempt_count: 5 },
        { service: 'api', attempt_count: 2 },
      ],
    })
    const series = body.data.series as { hour: string; count: number }[]
    expect(series).toHaveLength(6)
    expect(series.reduce((sum, { count }) => sum + count, 0)).toBe(20)
    expect(series.map(({ hour }) => hour)).toEqual(
      series.map(({ hour }) => `${hour.slice(0, 13)}:00:00.000Z`),
    )
    expect(series.at(-1)?.count).toBe(15)
    expect(series.filter(({ count }) => count === 0)).toHaveLength(4)
    const wide = await watcher.get(`${BASE}/summary?hours=100000`)
    expect(wide.body.data.window_hours).toBe(168)
    expect(wide.body.data.series).toHaveLength(168)
    expect((await watcher.get(`${BASE}/summary?hours=0`)).status).toBe(422)
    await alone.stop()
  })
})

describe('block of an IP address', () => {
  it('requires a reason, valid minutes and an IP address with failed logins', async () => {
    expect(await block('198.51.100.4', 60, {})).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'reason'] }] },
    })
    for (const minutes of [0, 43_201, '60', 1.5, null]) {
      expect((await block('198.51.100.4', minutes)).status).toBe(422)
    }
    expect((await block('198.51.100.4', 60, { reason: '' })).status).toBe(422)
    for (const ip of ['nonsense', '198.51.100.0/24', 'fe80::1%eth0', '1.2.3']) {
      expect(await block(ip)).toMatchObject({
        status: 422,
        body: { msg: 'client_ip must be a valid IPv4 or IPv6 address' },
      })
    }
    expect(await block('192.0.2.200')).toMatchObject({ status: 404 })
    expect(await unblock('198.51.100.4')).toMatchObject({
      status: 404,
      body: { msg: 'No active block found for this IP' },
    })
    expect(await unblock('198.51.100.4', {})).toMatchObject({ status: 422 })
  })

  it('blocks API keys and every kind of login in all processes until it is lifted', async () => {
    const from = newIp()
    await insertRows([{ client_ip: from, username: 'a@acme.test', service: 'imap' }])
    const logins: Record<string, (on: App) => Promise<{ status: number; headers: object }>> = {
      key: (on) =>
        on.send('GET', '/api/v1/domains/', { headers: { 'x-api-key': acme.apiKey }, from }),
      dashboard: (on) => login(from, on),
      operator: (on) =>
        on.send('POST', '/api/v1/platform/auth/login', {
          body: { email: operator.email, password: PASSWORD },
          from,
        }),
      mailbox: (on) =>
        on.send('POST', '/api/v1/mailbox-auth/login', {
          body: { email_address: acme.email, password: PASSWORD },
          from,
        }),
    }
    const statuses = async (on: App) => {
      const answers: Record<string, number> = {}
      for (const [name, attempt] of Object.entries(logins)) {
        answers[name] = (await attempt(on)).status
      }
      return answers
    }
    mail.passwords.set(acme.email, PASSWORD)
    const open = { key: 200, dashboard: 200, operator: 200, mailbox: 200 }
    const closed = { key: 429, dashboard: 429, operator: 429, mailbox: 429 }
    expect(await statuses(app)).toEqual(open)

    const blocked = await block(from, 60)
    expect(blocked).toMatchObject({
      status: 200,
      body: { msg: 'IP blocked', data: { client_ip: from, rows_affected: 1 } },
    })
    expect(blocked.body.data).not.toHaveProperty('warning')
    expect(await statuses(app)).toEqual(closed)
    await waitFor(async () => (await logins.key?.(other))?.status === 429)
    expect(await statuses(other)).toEqual(closed)
    const refused = await login(from)
    expect(refused.body.msg).toBe('Too many failed attempts. Try again later.')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3500)

    expect(await unblock(from)).toMatchObject({
      status: 200,
      body: { msg: 'IP block lifted', data: { client_ip: from, rows_affected: 1 } },
    })
    expect(await statuses(app)).toEqual(open)
    await waitFor(async () => (await logins.key?.(other))?.status === 200)
    expect((await attempts(`client_ip=${from}`))[0]).toMatchObject({ attempt_count: 1 })
  })

  it('keeps the session of the caller and warns when the block covers its own IP', async () => {
    const own = '127.0.0.1'
    await insertRows([{ client_ip: own, username: null, service: 'api' }])
    const { status, body } = await block('::FFFF:127.0.0.1', 5)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ client_ip: own })
    expect(body.data.warning).toMatch(/^You are calling from this address/)
    expect((await login(own)).status).toBe(429)
    expect((await unblock('::ffff:7f00:1')).body.data.client_ip).toBe(own)
    expect((await login(own)).status).toBe(200)
  })

  it('expires after its minutes and survives the cleanup of old failed logins', async () => {
    const from = newIp()
    await insertRows([
      { client_ip: from, username: null, service: 'api', minutesAgo: 100 * 24 * 60 },
    ])
    await block(from, 60)
    const { deleteOldFailedAttempts } = await import('../../../jobs/housekeeping.ts')
    await deleteOldFailedAttempts.run(app.core)
    expect((await login(from)).status).toBe(429)
    app.clock.advance(61 * MINUTE_MS)
    expect((await login(from)).status).toBe(200)
    await deleteOldFailedAttempts.run(app.core)
    expect(await attempts(`client_ip=${from}`)).toEqual([])
  })

  it('is not overwritten by a concurrent failed login', async () => {
    const from = newIp()
    const wrong = () =>
      app.send('POST', '/api/v1/auth/login', {
        body: { email: acme.email, password: 'wrong' },
        from,
      })
    await wrong()
    const pending = Promise.all(Array.from({ length: 2 }, wrong))
    await block(from, 600)
    await pending
    expect((await attempts(`client_ip=${from}`))[0]).toMatchObject({
      failure_reason: 'operator_block',
      blocked: true,
    })
    const key = { headers: { 'x-api-key': acme.apiKey }, from }
    expect((await app.send('GET', '/api/v1/domains/', key)).status).toBe(429)
  })

  it('writes an audit row with its reason, also for a rejected request, and emits an event', async () => {
    const ip = '198.51.100.99'
    await insertRows([{ client_ip: ip, username: 'a@acme.test', service: 'imap' }])
    await block(ip)
    await block('nonsense')
    const audit = (target: string) =>
      waitFor(() =>
        app.core.db
          .selectFrom('operator_audit')
          .select(['operator_email', 'request_body', 'result', 'status_code'])
          .where('action', '=', 'block_failed_auth_ip')
          .where('target_id', '=', target)
          .executeTakeFirst(),
      )
    expect(await audit(ip)).toEqual({
      operator_email: operator.email,
      request_body: { minutes: 60, ...WHY },
      result: 'success',
      status_code: 200,
    })
    expect(await audit('nonsense')).toMatchObject({ result: 'failure', status_code: 422 })
    const event = await app.core.db
      .selectFrom('events')
      .select(['event', 'org_id', 'data'])
      .where('event', '=', 'security.ip.blocked')
      .orderBy('sequence', 'desc')
      .executeTakeFirst()
    expect(event).toEqual({
      event: 'security.ip.blocked',
      org_id: null,
      data: { ip_address: ip, domain: '', rule_type: 'operator_block' },
    })
  })
})
