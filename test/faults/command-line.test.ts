import { readdirSync } from 'node:fs'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { installation } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, run, startServer, temporaryFolder, workersIn } from '../support/process.ts'

const migrations = readdirSync(new URL('../../migrations/', import.meta.url))
  .filter((name) => name.endsWith('.sql'))
  .sort()

afterAll(cleanUp)

describe.each([
  ['beside a running server', true],
  ['without a server', false],
])('%s', (_, beside) => {
  let made: Awaited<ReturnType<typeof installation>>
  let server: Awaited<ReturnType<typeof startServer>> | undefined
  const mailplane = (...args: string[]) => run(args, { DATA_DIR: made.dataDir })

  beforeAll(async () => {
    made = await installation()
    if (beside) server = await startServer(made)
  })
  afterAll(() => server?.stop())

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

    const revoked = await mailplane('keys', 'revoke', key.key_id, '--json')
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
  })

  it('tells which migrations the database has, and starts or stops nothing for good', async () => {
    const status = JSON.parse((await mailplane('db', 'status', '--json')).stdout)
    expect(status.map(({ name }: { name: string }) => name)).toEqual(migrations)
    for (const { applied_at } of status) expect(applied_at).toMatch(/^\d{4}-.*Z$/)
    expect(JSON.parse((await mailplane('db', 'migrate', '--json')).stdout)).toEqual({ applied: [] })
    expect(workersIn(made.dataDir).length > 0).toBe(beside)
    if (server) expect((await server.health()).status).toBe(200)
  })

  it('prints the address of the database', async () => {
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

  it('says what failed in one line, with status 1', async () => {
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

it('migrates an external database and tells the same address back', async () => {
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

it('says in one line, with status 1, that the database does not answer', async () => {
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

it('prints the OpenAPI description without a database', async () => {
  const { code, stdout } = await run(['openapi'], { DATA_DIR: '/nowhere' })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\./) })
  expect(Object.keys(JSON.parse(stdout).paths)).toContain('/health')
})

it('lists the services with their ports', async () => {
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
  [['db', 'drop'], 'db takes url, migrate or status'],
  [['serve', '--port', '1'], "Unknown option '--port'"],
])('explains its usage, with status 2, when called with %j', async (args, message) => {
  const { code, stdout, stderr } = await run(args, { DATA_DIR: '/nowhere' })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^mailplane: [^\n]+\n\nusage: mailplane COMMAND/)
  expect(stderr).toContain(message)
})
