import { readdirSync } from 'node:fs'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ulid } from '../../src/lib/ulid.ts'
import { installation, ownerOf } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, run, startServer, temporaryFolder, workersIn } from '../support/process.ts'

const migrations = readdirSync(new URL('../../migrations/', import.meta.url))
  .filter((name) => name.endsWith('.sql'))
  .sort()

/** The dashboard user that the bootstrap of an installation makes. */
const EMAIL = 'admin@acme.test'

afterAll(cleanUp)

describe.each([
  ['beside a running server', true],
  ['without a server', false],
])('the command line %s', (_, beside) => {
  let made: Awaited<ReturnType<typeof installation>>
  let server: Awaited<ReturnType<typeof startServer>> | undefined
  const mailplane = (...args: string[]) => run(args, { DATA_DIR: made.dataDir })

  beforeAll(async () => {
    made = await installation()
    if (beside) server = await startServer(made)
  })
  afterAll(() => server?.stop())

  /** Queries the database of the running server. */
  const database = async <Row>(query: (sql: postgres.Sql) => Promise<Row>): Promise<Row> => {
    const { stdout } = await mailplane('db', 'url')
    const sql = postgres(stdout.trim(), { max: 1 })
    try {
      return await query(sql)
    } finally {
      await sql.end()
    }
  }

  it('creates, lists and revokes keys', async () => {
    const created = await mailplane(
      ...['keys', 'create', '--organization', made.organizationId, '--name', 'A key'],
      ...['--read-only', '--expires-at', '2100-01-01T00:00:00Z', '--json'],
    )
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const key = JSON.parse(created.stdout)
    expect(key).toMatchObject({
      organization_id: made.organizationId,
      scope: 'organization',
      permissions: { read_only: true, admin_access: false },
    })
    const headers = { 'x-api-key': key.api_key }
    if (server) expect((await server.send('GET', '/api/v1/auth/me', { headers })).status).toBe(200)

    const revoked = await mailplane('keys', 'revoke', key.key_id, '--reason', 'leaked', '--json')
    expect(revoked).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(revoked.stdout)).toEqual({ key_id: key.key_id, active: false })
    const list = await mailplane('keys', 'list', '--organization', made.organizationId, '--json')
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({
        key_id: key.key_id,
        name: 'A key',
        active: false,
        expires_at: '2100-01-01T00:00:00.000Z',
      }),
    )
    expect(list.stdout).not.toContain(key.api_key)
    if (!server) return
    const rows = await database(
      (sql) =>
        sql`select action, target_id, organization_id, request_body from operator_audit
          where target_id = ${key.key_id} order by id`,
    )
    const about = { target_id: key.key_id, organization_id: made.organizationId }
    expect(rows).toEqual([
      {
        ...about,
        action: 'create_api_key',
        request_body: {
          name: 'A key',
          scope: 'organization',
          level: 'read',
          source: 'command line',
        },
      },
      {
        ...about,
        action: 'revoke_api_key',
        request_body: { reason: 'leaked', source: 'command line' },
      },
    ])
    const emitted = await database(
      (sql) =>
        sql`select event from events where data ->> 'api_key_id' = ${key.key_id} order by sequence`,
    )
    expect(emitted.map(({ event }) => event)).toEqual([
      'auth.api_key.created',
      'auth.api_key.revoked',
    ])
  })

  it('lists and lifts blocks of senders, with an audit row (B8)', async () => {
    const none = await mailplane('blocked-senders', 'unblock', 'none', '--reason', 'x')
    expect(none).toMatchObject({ code: 1, stderr: 'mailplane: there is no block none\n' })
    if (!server) return
    const id = ulid()
    await database(
      (sql) =>
        sql`insert into blocked_senders (id, organization_id, sender, reason, created_by)
          values (${id}, ${made.organizationId}, 'spammer@far.test', 'spam', 'ops@host.test')`,
    )
    const listed = await mailplane('blocked-senders', 'list', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id, sender: 'spammer@far.test' }])
    expect((await mailplane('blocked-senders', 'unblock', id)).code).toBe(2)
    const unblock = () => mailplane('blocked-senders', 'unblock', id, '--reason', 'asked', '--json')
    const unblocked = await unblock()
    expect(unblocked).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(unblocked.stdout)).toEqual({
      id,
      organization_id: made.organizationId,
      sender: 'spammer@far.test',
      blocked: false,
    })
    expect(await unblock()).toEqual({
      code: 1,
      stdout: '',
      stderr: `mailplane: there is no block ${id}\n`,
    })
    const rows = await database(
      (sql) => sql`select action, request_body from operator_audit where target_id = ${id}`,
    )
    expect(rows).toEqual([
      {
        action: 'unblock_quarantine_sender',
        request_body: { reason: 'asked', source: 'command line' },
      },
    ])
  })

  it('adds default alert rules once and lists them, with an audit row (B8)', async () => {
    // The first operator of an installation has them already.
    const before = JSON.parse((await mailplane('alerts', 'list', '--json')).stdout)
    expect(before).toContainEqual(
      expect.objectContaining({ name: 'Backup is old', metric: 'backup_age_hours' }),
    )
    if (!server) return
    await database((sql) => sql`delete from alert_rules where name = 'Backup is old'`)
    const add = () => mailplane('alerts', 'add-defaults', '--email', EMAIL, '--json')
    expect(JSON.parse((await add()).stdout)).toMatchObject([{ name: 'Backup is old' }])
    expect(JSON.parse((await add()).stdout)).toEqual([])
    expect((await mailplane('alerts', 'add-defaults', '--email', 'x')).code).toBe(2)
    const rows = await database(
      (sql) => sql`select request_body from operator_audit
          where action = 'add_default_alert_rules' order by id`,
    )
    expect(rows).toMatchObject([
      { request_body: { email: EMAIL, added: 1, source: 'command line' } },
      { request_body: { email: EMAIL, added: 0 } },
    ])
  })

  it('lists and lifts throttles, with an audit row', async () => {
    const none = await mailplane('throttles', 'lift', '--account', EMAIL, '--reason', 'test')
    expect(none).toMatchObject({
      code: 1,
      stderr: 'mailplane: there is no active throttle or block of it\n',
    })
    expect(await mailplane('throttles', 'lift', '--account', EMAIL)).toMatchObject({ code: 2 })
    if (!server) return
    // The block lasts for minutes, so that it is still there when the commands run.
    const login = (password: string) =>
      (server as NonNullable<typeof server>).send('POST', '/api/v1/platform/auth/login', {
        body: { email: EMAIL, password },
      })
    for (const _ of [1, 2, 3]) expect((await login('guess')).status).toBe(401)
    const listed = JSON.parse((await mailplane('throttles', 'list', '--json')).stdout)
    expect(listed).toContainEqual(
      expect.objectContaining({ kind: 'account', username: EMAIL, service: 'operator' }),
    )
    for (const target of [
      ['--account', EMAIL.toUpperCase()],
      ['--ip', '127.0.0.1'],
    ]) {
      const lifted = await mailplane('throttles', 'lift', ...target, '--reason', 'x', '--json')
      expect(lifted).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(lifted.stdout)).toMatchObject({ lifted: 1 })
    }
    expect((await login('guess')).status).toBe(401)
  })

  it('adds, lists and deletes IP rules, with audit rows', async () => {
    const of = ['--organization', made.organizationId]
    const add = (...more: string[]) =>
      mailplane('ip-rules', 'add', '192.0.2.70/24', ...of, '--type', 'blacklist', ...more)
    const why = ['--reason', 'ticket-7', '--json']
    expect(await mailplane('ip-rules', 'delete', 'none', ...why)).toMatchObject({
      code: 1,
      stderr: 'mailplane: IP access rule not found\n',
    })
    expect((await add()).code).toBe(2)
    const added = await add('--applies-to', 'api,smtp', ...why)
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const { id } = JSON.parse(added.stdout)
    expect((await add(...why)).code).toBe(1)
    const listed = await mailplane('ip-rules', 'list', ...of, '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { id, ip_address: '192.0.2.0/24', applies_to: ['smtp', 'api'], created_by: null },
    ])
    const deleted = await mailplane('ip-rules', 'delete', id, ...why)
    expect(JSON.parse(deleted.stdout)).toMatchObject({ id, organization_id: made.organizationId })
    expect(await mailplane('ip-rules', 'list')).toMatchObject({ code: 0, stdout: 'none\n' })
    if (!server) return
    const rows = await database(
      (sql) => sql`select action, request_body ->> 'reason' as reason from operator_audit
        where target_id = ${id} and organization_id = ${made.organizationId} order by id`,
    )
    const actions = ['create_ip_rule', 'delete_ip_rule']
    expect(rows).toEqual(actions.map((action) => ({ action, reason: 'ticket-7' })))
  })

  it('traces messages by login and marks feedback reports', async () => {
    const trace = await mailplane('trace', '--login', EMAIL, '--status', 'held', '--json')
    expect(trace).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
    if (server) {
      const rows = await database(
        (sql) => sql`select request_body from operator_audit where action = 'trace_messages'`,
      )
      const request_body = { login: EMAIL, status: 'held', command_line: true }
      expect(rows).toEqual([{ request_body }])
    }
    expect(await mailplane('trace', '--status', 'lost')).toMatchObject({ code: 2 })
    expect(await mailplane('feedback', 'list')).toMatchObject({ code: 0, stdout: 'none\n' })
    expect(await mailplane('feedback', 'process', 'none', '--reason', 'x')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'mailplane: there is no feedback report none\n',
    })
  })

  it('sets warm-ups and limits of destinations, with audit rows', async () => {
    const ip = '192.0.2.70'
    const why = ['--reason', 'new-address', '--json']
    const set = await mailplane('warm-ups', 'set', ip, '--target', '9', '--days', '3', ...why)
    expect(set).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(set.stdout)).toMatchObject({ ip_address: ip, today_limit: 9, day: 1 })
    const paused = await mailplane('warm-ups', 'pause', ip, ...why)
    expect(JSON.parse(paused.stdout)).toMatchObject({ paused_at: expect.any(String) })
    expect(JSON.parse((await mailplane('warm-ups', 'list', '--json')).stdout)).toMatchObject([
      { ip_address: ip, organization_id: null, sent_today: 0 },
    ])
    expect((await mailplane('warm-ups', 'delete', ip, ...why)).code).toBe(0)
    expect(await mailplane('warm-ups', 'delete', ip, ...why)).toMatchObject({
      code: 1,
      stderr: 'mailplane: Warm-up schedule not found\n',
    })
    expect((await mailplane('isp-limits', 'set', 'a.test', '--hourly', '1', ...why)).code).toBe(0)
    expect(JSON.parse((await mailplane('isp-limits', 'list', '--json')).stdout)).toMatchObject([
      { domain: 'a.test', hourly_limit: 1 },
    ])
    expect((await mailplane('isp-limits', 'delete', 'a.test', ...why)).code).toBe(0)
    expect(await mailplane('isp-limits', 'set', 'a.test', '--hourly', '-1')).toMatchObject({
      code: 2,
    })
    if (!server) return
    const trail = await ownerOf(server, made).get('/api/v1/platform/audit?per_page=200')
    for (const action of ['create_warm_up', 'update_warm_up', 'delete_warm_up', 'set_isp_limit']) {
      expect(trail.text).toContain(`"${action}"`)
    }
  })

  it('confirms the ownership of a pending domain, with an audit row', async () => {
    const name = `claimed-${beside ? 'beside' : 'alone'}.test`
    // Without a server the claim is made by a server that is stopped before the command runs.
    const claims = server ?? (await startServer(made))
    const added = await claims.send('POST', '/api/v1/domains/', {
      headers: { 'x-api-key': made.apiKey },
      body: { domain: name, dkim_enabled: false },
    })
    expect(added.body.data.ownership_verified_at).toBeNull()
    if (!server) await claims.stop()
    const verified = await mailplane('domains', 'verify', name, '--reason', 'letter', '--json')
    expect(verified).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(verified.stdout)).toEqual({
      domain: name,
      id: added.body.data.id,
      organization_id: made.organizationId,
      ownership_verified_at: expect.any(String),
    })
    const unknown = await mailplane('domains', 'verify', 'unknown.test')
    expect(unknown).toEqual({
      code: 1,
      stdout: '',
      stderr: 'mailplane: no organization has added unknown.test\n',
    })
    if (!server) return
    const trail = await ownerOf(server, made).get('/api/v1/platform/audit?per_page=200')
    expect(trail.text).toContain('"reason":"letter"')
  })

  it('prints the applied migrations and leaves the server as it was', async () => {
    const status = JSON.parse((await mailplane('db', 'status', '--json')).stdout)
    expect(status.map(({ name }: { name: string }) => name)).toEqual(migrations)
    for (const { applied_at } of status) expect(applied_at).toMatch(/^\d{4}-.*Z$/)
    expect(JSON.parse((await mailplane('db', 'migrate', '--json')).stdout)).toEqual({ applied: [] })
    expect(workersIn(made.dataDir).length > 0).toBe(beside)
    if (server) expect((await server.health()).status).toBe(200)
  })

  it('prints the URL of the database', async () => {
    const { stdout } = await mailplane('db', 'url')
    expect(stdout).toMatch(/^postgres:\/\/mailplane:\S+@127\.0\.0\.1:\d+\/mailplane\n$/)
    if (!server) return
    const sql = postgres(stdout.trim(), { max: 1 })
    expect(await sql`select id from organizations`).toEqual([{ id: made.organizationId }])
    await sql.end()
    expect(JSON.parse((await mailplane('db', 'url', '--json')).stdout)).toEqual({
      url: stdout.trim(),
    })
  })

  it('prints a failure in one line and exits with status 1', async () => {
    const key = await mailplane('keys', 'revoke', 'no-such-key')
    expect(key).toEqual({ code: 1, stdout: '', stderr: 'mailplane: there is no key no-such-key\n' })
    const dashed = await mailplane('keys', 'revoke', '-Ab-cd_e_01M7FHR38PNQTT81X345JM3SEM')
    expect(dashed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no key -Ab-'),
    })
    expect((await mailplane('keys', 'revoke', '--all')).code).toBe(2)
    const organization = await mailplane('keys', 'create', '--organization', 'none', '--name', 'x')
    expect(organization).toEqual({
      code: 1,
      stdout: '',
      stderr: 'mailplane: there is no organization none\n',
    })
  })
})

it('db migrate and db url work with an external database', async () => {
  const empty = new URL(inject('databaseUrl'))
  empty.pathname = '/template1'
  const { url, drop } = await cloneDatabase(empty.href)
  const env = { DATABASE_URL: url, DATA_DIR: temporaryFolder() }
  const before = JSON.parse((await run(['db', 'status', '--json'], env)).stdout)
  expect(before).toEqual(migrations.map((name) => ({ name, applied_at: null })))
  const { stdout } = await run(['db', 'migrate', '--json'], env)
  expect(JSON.parse(stdout)).toEqual({ applied: migrations })
  expect((await run(['db', 'url'], env)).stdout).toBe(`${url}\n`)
  await drop()
})

it('an unreachable database is reported in one line with exit status 1', async () => {
  const env = { DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/db' }
  for (const args of [
    ['keys', 'list'],
    ['db', 'status'],
  ]) {
    expect(await run(args, env)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'mailplane: the database of DATABASE_URL does not answer (ECONNREFUSED)\n',
    })
  }
})

it('openapi prints the description without a database', async () => {
  const { code, stdout } = await run(['openapi'], { DATA_DIR: '/nowhere' })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\./) })
  expect(Object.keys(JSON.parse(stdout).paths)).toContain('/health')
})

it('services lists the services with their ports', async () => {
  const { code, stdout } = await run(['serve', '--list-services'], {})
  expect(code).toBe(0)
  expect(stdout).toMatch(/^([a-z_-]+\t\d+\n)+$/)
  expect(stdout).toContain('api\t8080\n')
})

it.each([
  [[], 'a command is missing'],
  [['frobnicate'], 'unknown command "frobnicate"'],
  [['keys', 'create', '--name', 'x'], '--organization is missing'],
  [
    ['keys', 'create', '--organization', 'x', '--name', 'x', '--expires-at', 'soon'],
    '--expires-at must be an ISO date or datetime',
  ],
  [['domains', 'verify'], 'domains verify takes one NAME'],
  [['operators', 'rescue'], 'operators rescue takes one EMAIL'],
  [['db', 'drop'], 'db takes url, migrate or status'],
  [['serve', '--port', '1'], "Unknown option '--port'"],
])('%j prints the usage and exits with status 2', async (args, message) => {
  const { code, stdout, stderr } = await run(args, { DATA_DIR: '/nowhere' })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^mailplane: [^\n]+\n\nusage: mailplane COMMAND/)
  expect(stderr).toContain(message)
})
