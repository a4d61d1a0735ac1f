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

it('a first start prints the URL, the token files and the next steps', async () => {
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

it('every start with SVC_DOMAIN_OWNERSHIP=off says so; others do not', async () => {
  const made = await installation()
  const off = await startServer({ ...made, env: { SVC_DOMAIN_OWNERSHIP: 'off' } })
  expect(off.output.stdout).toContain('SVC_DOMAIN_OWNERSHIP is off')
  await off.stop()
  const on = await startServer(made)
  expect(on.output.stdout).not.toContain('SVC_DOMAIN_OWNERSHIP')
})

it('a second start finds all data', async () => {
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
  '%s stops the server and its PostgreSQL with status 0',
  async (signal) => {
    const { dataDir } = await installation()
    const server = await startServer({ dataDir })
    expect(workersIn(dataDir).length).toBeGreaterThan(0)
    server.signal(signal)
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(workersIn(dataDir)).toEqual([])
  },
)

it('an upload that began before SIGTERM gets its response, also after a second SIGTERM', async () => {
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
  // The server does not wait for the end of a keep-alive connection, which is 72 seconds.
  expect(Date.now() - finished).toBeLessThan(60_000)
})

it('a process that is leaving tells the load balancer, and answers as before meanwhile', async () => {
  const server = await startServer({ ...(await installation()), env: { SVC_DRAIN_SECONDS: '10' } })
  expect((await server.send('GET', '/readyz')).body).toMatchObject({ status: 'ready' })
  server.signal('SIGTERM')
  await until(async () => (await server.send('GET', '/readyz')).status === 503)
  const answers = await Promise.all(
    ['/readyz', '/livez', '/health'].map((path) => server.send('GET', path)),
  )
  expect(answers.map(({ status }) => status)).toEqual([503, 200, 200])
  expect(answers[0]?.body).toMatchObject({
    status: 'not ready',
    error: 'The process is stopping',
    correlation_id: expect.any(String),
  })
  expect(answers.map(({ headers }) => headers.connection)).toEqual(['close', 'close', 'close'])
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
})

it('logins in progress at SIGTERM get their response', async () => {
  const server = await startServer(await installation())
  const logins = Array.from({ length: 6 }, () =>
    server.send('POST', '/api/v1/auth/login', { raw: login }),
  )
  await Promise.race(logins)
  server.signal('SIGTERM')
  expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect((await server.ended).code).toBe(0)
})

it('the server stops although a client never completes its request', async () => {
  const { dataDir } = await installation()
  const server = await startServer({ dataDir })
  const upload = beginLogin(server)
  await upload.begun
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(workersIn(dataDir)).toEqual([])
  await expect(upload.status).rejects.toThrow()
})

it.each([
  ['PostgreSQL is being initialized', 'postgres.new', () => join(temporaryFolder(), 'new')],
  ['PostgreSQL is starting', 'postgres/postmaster.pid', async () => (await installation()).dataDir],
])('SIGTERM leaves no process running while %s', async (_, file, folder) => {
  const dataDir = await folder()
  const server = spawnServer({ dataDir })
  await until(() => existsSync(join(dataDir, file)))
  expect(await server.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(workersIn(dataDir)).toEqual([])
  expect((await (await startServer({ dataDir })).health()).status).toBe(200)
})

/** A login whose body is sent in two parts, on a keep-alive connection. */
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
  // A later request has its response, so this request was received.
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
