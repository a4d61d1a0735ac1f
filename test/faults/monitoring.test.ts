import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, type Server, startServer, temporaryFolder, until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

let database: Awaited<ReturnType<typeof cloneDatabase>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
let sql: Sql
let api: Server
let one: Server
let other: Server

beforeAll(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  receiver = await startReceiver()
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  const env = {
    DATABASE_URL: database.url,
    SVC_SECRET_KEY: 'the root key that all processes have in common',
    SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
    MONITORING_SWEEP_SECONDS: '1',
    ALERT_EVAL_INTERVAL_SECONDS: '1',
  }
  const start = (services: string) =>
    startServer({ dataDir: temporaryFolder(), env, args: ['--services', services] })
  api = await start('api')
  one = await start('monitoring')
  other = await start('monitoring')
})
afterAll(async () => {
  await cleanUp()
  await sql.end()
  await receiver.stop()
  await database.drop()
})

const statusOf = async (name: string) =>
  (await sql`select status from service_health where name = ${name}`)[0]?.status
const healthEvents = async (service: string) =>
  (
    await sql`select event from events
    where event like 'health.service.%' and data->>'service' = ${service} order by id`
  ).map(({ event }) => event)

it('monitoring lists the daemons of all processes and their metrics on one page', async () => {
  await until(async () => (await statusOf('api')) === 'up')
  const { status, text } = await one.send('GET', '/metrics/prometheus')
  expect(status).toBe(200)
  expect(text).toMatch(/^api_info\{/m)
  expect(text).toMatch(/^monitoring_info\{/m)
  // Two processes run the monitoring service: one HELP line, series by process (B5.3).
  expect(text.match(/^# HELP monitoring_info /gm)).toHaveLength(1)
  expect(text.match(/^monitoring_info\{process="[^"]+"/gm)).toHaveLength(2)
  expect(text).toMatch(/^monitoring_service_up 1$/m)
  expect(text).toMatch(/^monitoring_system_disk_usage \d/m)
})

it('another process continues the alert rules and breaches of a killed process', async () => {
  await sql`insert into alert_channels (id, name, type, target)
    values ('c', 'c', 'webhook', ${receiver.url})`
  await sql`insert into alert_rules
    (id, name, metric, comparator, threshold, for_seconds, channel_ids)
    values ('r', 'fills', 'quarantine_pending', '>', 0, 4, '{c}')`
  await sql`insert into quarantine (id, reason, expires_at) values ('q', 'spam', '2099-01-01')`
  const began = async () =>
    (await sql`select breach_began_at from alert_rules`)[0]?.breach_began_at as Date | null
  await until(async () => (await began()) !== null)
  const before = await began()
  one.signal('SIGKILL')
  await until(() => receiver.got.length > 0)
  expect(await began()).toEqual(before)
  const events = await sql`select state from alert_events`
  expect(events.map(({ state }) => state)).toEqual(['firing'])
  expect(receiver.got).toHaveLength(1)
})

it('a killed API is reported as down exactly once', async () => {
  api.signal('SIGKILL')
  await until(async () => (await statusOf('api')) === 'down')
  expect(await healthEvents('api')).toEqual(['health.service.down'])
  const { text } = await other.send('GET', '/metrics/prometheus')
  expect(text).toMatch(/^api_service_up 0$/m)
})
