import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

const title = 'servers whose PostgreSQL fails over under Patroni'
describe.skipIf(patroniMissing)(`${title}${skipped(patroniMissing)}`, () => {
  let cluster: Cluster
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let env: Record<string, string>
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
      SVC_COOKIE_SECURE: 'false',
      WEBHOOK_URL: receiver.url,
      WEBHOOK_RETRY_SCHEDULE: '1',
    }
    const start = (url: string) =>
      startServer({ dataDir: temporaryFolder(), env: { ...env, DATABASE_URL: url } })
    const first = await start(cluster.url)
    made = await bootstrapBoth(first)
    servers = [first, await start(await cluster.startHaproxy())]
  })
  afterAll(async () => {
    await cleanUp()
    await receiver?.stop()
    await cluster?.stop()
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
    await expectOneDelivery(acknowledged)
    await expectFeed()
  })

  it('a switch of the primary by an operator', async () => {
    const { acknowledged } = await expectWritesAgain(() =>
      cluster.command(documented('sh', 'switchover')),
    )
    await cluster.complete()
    await expectStored(acknowledged)
    await expectOneDelivery(acknowledged)
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
        prefix: `written-${Date.now()}-${index}`,
      }),
    )
    for (const { acknowledged } of all) await until(() => acknowledged.length >= 20)
    await change(before)
    await until(async () => ![undefined, before].includes(await cluster.primary()))
    for (const { acknowledged } of all) {
      const count = acknowledged.length
      await until(() => acknowledged.length >= count + 20, WRITES_AGAIN_MS)
    }
    for (const server of servers) await until(() => isReady(server))
    await Promise.all(all.map((writers) => writers.stop()))
    const outcomes = all.flatMap((writers) => [...writers.outcomes.keys()])
    expect(outcomes.filter((outcome) => !['201', '503'].includes(outcome))).toEqual([])
    return { before, acknowledged: all.flatMap((writers) => writers.acknowledged) }
  }

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

  /** The claimed deliveries of all events were continued, and each was recorded once. */
  async function expectOneDelivery(domains: string[]) {
    await until(async () => (await asked((sql) => sql`select from webhook_queue`)).length === 0)
    const rows = await asked(
      (sql) => sql`select data ->> 'domain' as domain, count(*)::int as deliveries
        from events join webhook_deliveries on event_id = events.id
        where event = 'domain.added' and delivery_status = 'delivered' group by 1`,
    )
    const counts = new Map(rows.map(({ domain, deliveries }) => [domain, deliveries]))
    expect(domains.filter((domain) => counts.get(domain) !== 1)).toEqual([])
    const received = new Set(receiver.got.map(({ json }) => json.data.domain))
    expect(domains.filter((domain) => !received.has(domain))).toEqual([])
  }

  /** The servers listen at the new primary, and refuse a key as soon as it is revoked. */
  async function expectFeed() {
    const feeds = () =>
      asked((sql) => sql`select from pg_stat_activity where application_name = 'mailplane feed'`)
    await until(async () => (await feeds()).length === servers.length)
    const make = ['keys', 'create', '--organization', made.organizationId, '--name', 'k', '--json']
    const { key_id, api_key } = JSON.parse((await run(make, env)).stdout)
    const headers = { 'x-api-key': api_key }
    const statuses = () =>
      Promise.all(
        servers.map(async (one) => (await one.send('GET', '/api/v1/auth/me', { headers })).status),
      )
    expect([await statuses(), await statuses()].flat()).toEqual([200, 200, 200, 200])
    expect((await run(['keys', 'revoke', key_id], env)).code).toBe(0)
    await until(async () => (await statuses()).every((status) => status === 401))
  }
})
