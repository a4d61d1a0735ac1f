import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect, type Target } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { installation, ownerOf } from '../support/installation.ts'
import { cleanUp, kill, type Server, startServer, until, workersIn } from '../support/process.ts'
import { startWriters } from '../support/writers.ts'

type Installation = Awaited<ReturnType<typeof installation>>

const WORKERS = 2

let made: Installation
let server: Server

// The tests build on each other: one server with two workers, which the last test stops.
beforeAll(async () => {
  made = await installation()
  server = await startServer({ ...made, env: { SVC_WORKERS: '2', SVC_COOKIE_SECURE: 'false' } })
})
afterAll(cleanUp)

it('several workers serve one listener, beside one process for the daemons', async () => {
  expect(server.output.stdout).toContain(`workers: ${WORKERS}`)
  expect(processes()).toHaveLength(WORKERS + 1)
  const answers = await Promise.all(Array.from({ length: 20 }, () => me()))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  for (const path of ['/health', '/livez', '/readyz']) {
    expect((await server.send('GET', path)).status).toBe(200)
  }
  await until(async () => (await metric('api_http_requests_total')).length >= WORKERS)
  const text = (await server.send('GET', '/metrics')).text
  // A family has one comment of each kind, and workers have series of their own.
  expect(text.match(/^# TYPE api_info /gm)).toHaveLength(1)
  expect(text).toMatch(/^api_info\{worker="1",/m)
  expect(text).toMatch(/^api_info\{worker="2",/m)
  expect(text).toMatch(/^webhooks_info\{version/m)
  expect(text).toMatch(/^api_workers 2$/m)
})

it('a worker hands over requests for a daemon of the other process, with the address of the client', async () => {
  const from = '127.0.0.77'
  expect((await server.send('GET', '/webhook/status', { from })).status).toBe(401)
  const headers = {
    'x-internal-token': readFileSync(join(made.dataDir, 'internal-token'), 'utf8').trim(),
    // The secret of the workers is missing, so this is not believed.
    'x-mailplane-peer': 'guessed 192.0.2.1',
  }
  expect((await server.send('GET', '/webhook/status', { from, headers })).status).toBe(200)
  const lines = () =>
    readFileSync(join(made.dataDir, 'logs', 'webhooks.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('/webhook/status'))
      .map((line) => JSON.parse(line))
  await until(() => lines().length === 2)
  expect(lines().map(({ ip, status, worker }) => [ip, status, worker])).toEqual([
    [from, 401, 'daemons'],
    [from, 200, 'daemons'],
  ])
})

it('an operator restarts a daemon of the other process', async () => {
  const path = '/api/v1/monitoring/services/analytics'
  const owner = ownerOf(server, made)
  // Monitoring knows a daemon after it has looked once.
  await until(async () => (await owner.get(path)).body.data?.status === 'up')
  const answer = await owner.post(`${path}/restart`, { reason: 'a new template' })
  expect(answer.status, answer.text).toBeLessThan(300)
})

it('kill -9 of a worker loses nothing that was acknowledged, and a new worker takes its place', async () => {
  const writers = startWriters({
    base: () => server.base,
    apiKey: made.apiKey,
    writers: 4,
    prefix: 'killed',
  })
  await until(() => writers.acknowledged.length >= 20)
  const [victim] = processes().filter((pid) => isWorker(pid))
  kill(victim as number)
  const after = writers.acknowledged.length
  // A connection of the killed worker is reset, also one of this test.
  const seen = (name: string) => metric(name).catch(() => [])
  await until(async () => (await seen('api_process_restarts_total')).some(isOne))
  await until(async () => (await seen('api_workers'))[0] === `api_workers ${WORKERS}`)
  await until(() => writers.acknowledged.length >= after + 20)
  await writers.stop()
  const { 201: _, ECONNRESET: __, ...others } = Object.fromEntries(writers.outcomes)
  expect(others).toEqual({})
  expect(await missingOf(writers.acknowledged)).toEqual([])
  expect(processes()).toHaveLength(WORKERS + 1)
  const log = readFileSync(join(made.dataDir, 'logs', 'api.log'), 'utf8')
  expect(log).toContain('a process of this server ended unexpectedly; starting it again')
})

it('the process with the daemons starts again after kill -9, and the workers go on', async () => {
  const [victim] = processes().filter((pid) => !isWorker(pid))
  kill(victim as number)
  await until(async () => {
    expect((await me()).status).toBe(200)
    const { status } = await server.send('GET', '/webhook/status')
    expect([401, 503]).toContain(status)
    return status === 401 && processes().length === WORKERS + 1
  })
})

it('SIGTERM under load gives every request its right answer or refuses the connection', async () => {
  const writers = startWriters({
    base: () => server.base,
    apiKey: made.apiKey,
    writers: 4,
    prefix: 'stopped',
  })
  await until(() => writers.acknowledged.length >= 20)
  server.signal('SIGTERM')
  await writers.ended()
  expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expect([...writers.outcomes.keys()].sort()).toEqual(['201', 'ECONNREFUSED'])
  expect(processes()).toEqual([])
  expect(workersIn(made.dataDir)).toEqual([])

  server = await startServer({ ...made, env: { SVC_WORKERS: '2' } })
  expect(await missingOf(writers.acknowledged)).toEqual([])
  expect((await server.stop()).code).toBe(0)
})

const me = () => server.send('GET', '/api/v1/auth/me', { headers: { 'x-api-key': made.apiKey } })

const metric = async (name: string) =>
  (await server.send('GET', '/metrics')).text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))

const isOne = (line: string) => line.endsWith(' 1')

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Its last argument is the number of a worker, or `daemons`. */
const isWorker = (pid: number) => / part \d+ $/.test(commandOf(pid))

/** The children of the server that run its program. */
function processes(): number[] {
  let children = ''
  try {
    children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  } catch {
    // The server has ended.
  }
  return children
    .split(' ')
    .map(Number)
    .filter((pid) => commandOf(pid).includes(' part '))
}

/** The domains that were acknowledged and are not stored. */
async function missingOf(acknowledged: readonly string[]): Promise<string[]> {
  const sql = connect(runningEmbedded(made.dataDir) as Target, { max: 1 })
  try {
    const rows = await sql`select domain from domains`
    const stored = new Set(rows.map(({ domain }) => domain))
    return acknowledged.filter((domain) => !stored.has(domain))
  } finally {
    await sql.end()
  }
}
