import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clientOf } from '../support/app.ts'
import { bootstrapBoth } from '../support/installation.ts'
import { type Cluster, documented, patroniMissing, startCluster, TTL } from '../support/patroni.ts'
import {
  cleanUp,
  run,
  type Server,
  startServer,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { skipped } from '../support/programs.ts'
import { startReceiver } from '../support/receiver.ts'
import { startWriters } from '../support/writers.ts'

// The promise of docs/database-failover.md, for a machine that is five times slower.
const WRITES_AGAIN_MS = 5 * (TTL + 3) * 1000
const WRITERS = 3
const EXPORTS = 6
const EXPORT_PATH = '/api/v1/compliance/data-export/admin@acme.test'
const DELIVERIES = 4

const title = 'servers whose PostgreSQL fails over under Patroni'
describe.skipIf(patroniMissing)(`${title}${skipped(patroniMissing)}`, () => {
  let cluster: Cluster
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let env: Record<string, string>
  let proxyUrl: string
  let feedsSeen = 0
  /** One with a list of hosts, one behind haproxy. */
  let servers: Server[]
  let made: Awaited<ReturnType<typeof bootstrapBoth>>
  beforeAll(async () => {
    cluster = await startCluster()
    await cluster.complete()
    const listed = await cluster.command(documented('sh', 'create role'))
    expect(listed).toMatch(/^\| db\d +\| \S+ +\| Leader +\| running/m)
    receiver = await startReceiver()
    env = {
      SVC_SECRET_KEY: 'the root key of every process here',
      DATABASE_URL: cluster.url,
      SVC_LOG_STDOUT: 'true',
      SVC_COOKIE_SECURE: 'false',
      WEBHOOK_URL: receiver.url,
      WEBHOOK_RETRY_SCHEDULE: '1',
      WEBHOOK_WORKERS: String(DELIVERIES),
    }
    const start = (url: string) =>
      startServer({ dataDir: temporaryFolder(), env: { ...env, DATABASE_URL: url } })
    const first = await start(cluster.url)
    made = await bootstrapBoth(first)
    proxyUrl = await cluster.startHaproxy()
    servers = [first, await start(`${proxyUrl}?target_session_attrs=read-write`)]
  })
  afterEach(() => {
    for (const name of cluster.machines) cluster.mend(name)
    expect(servers.flatMap(unexpected)).toEqual([])
  })
  afterAll(async () => {
    await cleanUp()
    await receiver?.stop()
    await cluster?.stop()
  })

  it('edge render refuses the list, and writes the address of the proxy', async () => {
    const folder = temporaryFolder()
    const render = (more: Record<string, string>) =>
      run(['edge', 'render', '--out', join(folder, 'out')], { ...env, DATA_DIR: folder, ...more })
    const refused = await render({})
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('set EDGE_DATABASE_URL to a proxy on the mail host')
    expect(await render({ EDGE_DATABASE_URL: proxyUrl })).toMatchObject({ code: 0 })
    const map = readFileSync(join(folder, 'out', 'postfix', 'pgsql-domains.cf'), 'utf8')
    expect(map).toContain(`hosts = ${new URL(proxyUrl).host}\n`)
  })

  it.each(['kill', 'freeze', 'silence'] as const)('%s of the primary', async (fault) => {
    const { before, acknowledged } = await expectWritesAgain(async (primary) => {
      const long = await startLongRequests()
      cluster[fault](primary)
      for (const server of servers) await until(async () => !(await isReady(server)))
      for (const answer of await long.answers) {
        expect(answer).toMatchObject({ status: 503, body: { error_code: 'DATABASE_UNAVAILABLE' } })
      }
      await long.end()
    })
    cluster.mend(before)
    await cluster.complete()
    await expectStored(acknowledged)
    await expectDeliveries(acknowledged)
    await expectFeed()
  })

  it('a switch of the primary by an operator', async () => {
    const { acknowledged } = await expectWritesAgain(() =>
      cluster.command(documented('sh', 'switchover')),
    )
    await cluster.complete()
    await expectStored(acknowledged)
    await expectDeliveries(acknowledged)
    await expectFeed()
  })

  /** Writers see 201 and 503 only, and 201 again from the new primary, with no restart. */
  async function expectWritesAgain(change: (primary: string) => Promise<unknown>) {
    await cluster.complete()
    const before = (await cluster.primary()) ?? ''
    const all = servers.map((server, index) =>
      startWriters({
        base: () => server.base,
        apiKey: made.apiKey,
        writers: WRITERS,
        pauseMs: 20,
        prefix: `written-${Date.now()}-${index}`,
      }),
    )
    for (const { acknowledged } of all) await until(() => acknowledged.length >= 20)
    const name = `failover-${Date.now()}`
    const requested = requestExports(name)
    await change(before)
    await until(async () => ![undefined, before].includes(await cluster.primary()))
    for (const { acknowledged } of all) {
      const count = acknowledged.length
      await until(() => acknowledged.length >= count + 20, WRITES_AGAIN_MS)
    }
    for (const server of servers) await until(() => isReady(server))
    await requested
    await expectExports(name)
    await Promise.all(all.map((writers) => writers.stop()))
    const outcomes = all.flatMap((writers) => [...writers.outcomes.keys()])
    expect(outcomes.filter((outcome) => !['201', '503'].includes(outcome))).toEqual([])
    return { before, acknowledged: all.flatMap((writers) => writers.acknowledged) }
  }

  /** Lines of the log about errors that were answered with 500. */
  const unexpected = ({ output }: Server) =>
    output.stdout.split('\n').filter((line) => line.includes('request failed unexpectedly'))

  const isReady = async (server: Server) => (await server.send('GET', '/readyz')).status === 200

  /** Asks the present primary. */
  async function asked<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = postgres(await cluster.primaryUrl(), { max: 1, onnotice: () => {} })
    try {
      return await work(sql)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  /** Requests whose statements wait for a lock, with the budget of long work. */
  async function startLongRequests() {
    const statement = 'begin; lock table mail_log in access exclusive mode; select pg_sleep(3600)'
    const holder = cluster.programs.start('psql', [await cluster.primaryUrl(), '-c', statement])
    const locks = (mode: string, granted: boolean) =>
      asked(
        (sql) => sql`select distinct pid from pg_locks
          where relation = 'mail_log'::regclass and mode = ${mode} and granted = ${granted}`,
      ).then(({ length }) => length)
    await until(async () => (await locks('AccessExclusiveLock', true)) === 1)
    const answers = servers.map((server) =>
      clientOf(server, {}, new Map(made.jar)).get('/api/v1/message-trace/trace'),
    )
    await until(async () => (await locks('AccessShareLock', false)) >= servers.length)
    return { answers: Promise.all(answers), end: () => holder.kill() }
  }

  async function expectStored(domains: string[]) {
    const rows = await asked((sql) => sql`select domain from domains`)
    const stored = new Set(rows.map(({ domain }) => domain))
    expect(domains.filter((domain) => !stored.has(domain))).toEqual([])
  }

  /** Repeats requests until they are accepted, as docs/database-failover.md advises. */
  const requestExports = (name: string) =>
    Promise.all(
      Array.from({ length: EXPORTS }, (_, index) =>
        until(async () => {
          const server = servers[index % servers.length] as Server
          const body = { export_type: 'settings', requested_by: name }
          const headers = { 'idempotency-key': `${name}-${index}` }
          const owner = clientOf(server, {}, new Map(made.jar))
          const { status } = await owner.post(EXPORT_PATH, body, { headers })
          // 409: another attempt with this key is not over.
          expect([200, 201, 202, 409, 503]).toContain(status)
          return status < 300
        }),
      ),
    )

  /** Every request was carried out once, and the claimed work for it was continued. */
  async function expectExports(name: string) {
    const rows = () =>
      asked((sql) => sql`select status from data_exports where requested_by = ${name}`)
    await until(async () => (await rows()).every(({ status }) => status === 'completed'))
    expect(await rows()).toHaveLength(EXPORTS)
  }

  /** No event is lost. Only deliveries that were under way are repeated. */
  async function expectDeliveries(domains: string[]) {
    await until(async () => (await asked((sql) => sql`select from webhook_queue`)).length === 0)
    const counts = new Map<string, number>()
    for (const { json } of receiver.got) {
      const { domain } = json.data
      counts.set(domain, (counts.get(domain) ?? 0) + 1)
    }
    expect(domains.filter((domain) => !counts.has(domain))).toEqual([])
    const repeated = domains.filter((domain) => (counts.get(domain) ?? 0) > 1)
    expect(repeated.length).toBeLessThanOrEqual(2 * servers.length * DELIVERIES)
  }

  /** The servers listen at the new primary, and refuse a key as soon as it is revoked. */
  async function expectFeed() {
    const feeds = () =>
      asked((sql) => sql`select from pg_stat_activity where application_name = 'mailplane feed'`)
    await until(async () => (await feeds()).length === servers.length)
    const make = ['keys', 'create', '--organization', made.organizationId, '--name', 'k', '--json']
    const { key_id, api_key } = JSON.parse((await run(make, env)).stdout)
    // An address of its own, because many refused keys block one.
    const options = { headers: { 'x-api-key': api_key }, from: `127.0.1.${++feedsSeen}` }
    const statuses = () =>
      Promise.all(
        servers.map(async (one) => (await one.send('GET', '/api/v1/auth/me', options)).status),
      )
    expect([await statuses(), await statuses()].flat()).toEqual([200, 200, 200, 200])
    expect((await run(['keys', 'revoke', key_id], env)).code).toBe(0)
    await until(async () => (await statuses()).every((status) => status === 401))
  }
})
