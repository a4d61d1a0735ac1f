import { existsSync, statSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { send } from '../support/http.ts'
import { installation, ownerOf } from '../support/installation.ts'
import {
  cleanUp,
  type Server,
  spawnServer,
  startServer,
  temporaryFolder,
  until,
  workersIn,
} from '../support/process.ts'

afterEach(cleanUp)

const login = JSON.stringify({ email: 'admin@acme.test', password: PASSWORD })

it('says where it listens, where both tokens are and what to do next', async () => {
  const dataDir = join(temporaryFolder(), 'new')
  const server = await startServer({ dataDir })
  const { stdout } = server.output
  expect(stdout).toContain(`ready at ${server.base}`)
  for (const file of ['bootstrap-token', 'operator-bootstrap-token']) {
    expect(stdout).toContain(join(dataDir, file))
    expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600)
  }
  expect(stdout).toMatch(/next: .*README\.md.*\/docs/)
  expect(await server.health()).toMatchObject({ status: 200, body: { status: 'healthy' } })
  expect(server.output.stderr).toBe('')
})

it('finds all data when it is started again', async () => {
  const made = await installation()
  const first = await startServer(made)
  const created = await ownerOf(first, made).post('/api/v1/platform/operators', {
    email: 'second@ops.test',
    full_name: 'Second',
    password: PASSWORD,
    role: 'support',
  })
  expect(created.status).toBe(201)
  expect((await first.stop()).code).toBe(0)

  const second = await startServer(made)
  const { id } = created.body.data
  expect(await ownerOf(second, made).get(`/api/v1/platform/operators/${id}`)).toMatchObject({
    status: 200,
    body: { data: { email: 'second@ops.test' } },
  })
  const me = await second.send('GET', '/api/v1/auth/me', { headers: { 'x-api-key': made.apiKey } })
  expect(me.body.data.organization.id).toBe(made.organizationId)
  expect(second.output.stdout).not.toContain('token in')
})

it.each(['SIGTERM', 'SIGINT'] as const)(
  'stops on %s within seconds, with status 0 and without its PostgreSQL',
  async (signal) => {
    const { dataDir } = await installation()
    const server = await startServer({ dataDir })
    expect(workersIn(dataDir).length).toBeGreaterThan(0)
    const asked = Date.now()
    server.signal(signal)
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(Date.now() - asked).toBeLessThan(5000)
    expect(workersIn(dataDir)).toEqual([])
  },
)

it('answers an upload that began before SIGTERM, and does not mind a second SIGTERM', async () => {
  const server = await startServer(await installation())
  const upload = beginLogin(server)
  await upload.begun
  server.signal('SIGTERM')
  await until(() => refusesConnections(server))
  server.signal('SIGTERM')
  const finished = Date.now()
  upload.finish()
  expect(await upload.status).toBe(200)
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
  // The connection could be kept alive, but that is not waited for.
  expect(Date.now() - finished).toBeLessThan(3000)
})

it('answers the logins that are being verified when SIGTERM arrives', async () => {
  const server = await startServer(await installation())
  const logins = Array.from({ length: 6 }, () =>
    server.send('POST', '/api/v1/auth/login', { raw: login }),
  )
  await Promise.race(logins)
  server.signal('SIGTERM')
  expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect((await server.ended).code).toBe(0)
})

it('does not wait for ever for a client that never finishes its request', async () => {
  const { dataDir } = await installation()
  const server = await startServer({ dataDir })
  const upload = beginLogin(server)
  await upload.begun
  const asked = Date.now()
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(Date.now() - asked).toBeLessThan(9000)
  expect(workersIn(dataDir)).toEqual([])
  await expect(upload.status).rejects.toThrow()
})

it.each([
  ['PostgreSQL is being initialized', 'postgres.new', () => join(temporaryFolder(), 'new')],
  ['PostgreSQL is starting', 'postgres/postmaster.pid', async () => (await installation()).dataDir],
])('leaves nothing running when SIGTERM arrives while %s', async (_, file, folder) => {
  const dataDir = await folder()
  const server = spawnServer({ dataDir })
  await until(() => existsSync(join(dataDir, file)))
  expect(await server.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(workersIn(dataDir)).toEqual([])
  expect((await (await startServer({ dataDir })).health()).status).toBe(200)
})

/** A login whose body is sent in two parts, on a connection that could be kept alive. */
function beginLogin(server: Server) {
  const agent = new http.Agent({ keepAlive: true })
  const request = http.request(new URL('/api/v1/auth/login', server.base), {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'content-length': login.length },
  })
  const status = new Promise<number>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject)
  })
  status.catch(() => {})
  // What was asked for later is answered, so this was received.
  const begun = new Promise<void>((resolve) =>
    request.write(login.slice(0, 10), () => server.health().then(() => resolve())),
  )
  return { begun, status, finish: () => request.end(login.slice(10)) }
}

const refusesConnections = (server: Server) =>
  send(server.base, 'GET', '/health').then(
    () => false,
    () => true,
  )
