import { afterAll, beforeAll, expect, it } from 'vitest'
import { installation } from '../support/installation.ts'
import { cleanUp, type Server, startServer } from '../support/process.ts'

/** The prefixes of the metrics, one for each service of the API. */
const SERVICES = [
  ...['api', 'webhooks', 'rate_limiter', 'archiver', 'encryption', 'monitoring', 'analytics'],
  ...['tracking', 'dashboard', 'delivery_optimizer', 'templates', 'queue_manager', 'rag'],
  ...['url_protection', 'oauth', 'storage', 'jmap', 'migration', 'autoconfig', 'caldav'],
]

/** Names after the prefix, with their types. */
const OF_EVERY_SERVICE = {
  info: 'gauge',
  uptime_seconds: 'counter',
  cpu_usage_percent: 'gauge',
  memory_usage_percent: 'gauge',
  memory_usage_bytes: 'gauge',
  http_requests_total: 'counter',
  http_errors_total: 'counter',
  http_request_duration_seconds: 'summary',
}

const OF_ONE_SERVICE = {
  monitoring_backup_age_seconds: 'gauge',
  monitoring_backup_last_status: 'gauge',
  monitoring_backup_last_size_bytes: 'gauge',
  monitoring_backup_unencrypted_runs: 'gauge',
  archiver_archive_messages_total: 'counter',
  archiver_archive_store_failures_total: 'counter',
  archiver_archive_spool_depth: 'gauge',
}

let server: Server
beforeAll(async () => {
  server = await startServer(await installation())
})
afterAll(cleanUp)

const typesOf = async (path: string) => {
  const { status, text } = await server.send('GET', path)
  expect(status).toBe(200)
  return new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
}

it('every service has the metrics that all of them have', async () => {
  const types = await typesOf('/metrics')
  const expected = SERVICES.flatMap((service) =>
    Object.entries(OF_EVERY_SERVICE).map(([name, type]) => [`${service}_${name}`, type]),
  )
  expect(expected.filter(([name, type]) => types.get(name) !== type)).toEqual([])
})

it('monitoring and archiver have the metrics that only they have', async () => {
  const types = await typesOf('/metrics')
  const expected = Object.entries(OF_ONE_SERVICE)
  expect(expected.filter(([name, type]) => types.get(name) !== type)).toEqual([])
  const { text } = await server.send('GET', '/metrics')
  for (const storage of ['s3', 'spool']) {
    expect(text).toContain(`archiver_archive_messages_total{storage="${storage}"} 0`)
  }
  expect(text).toMatch(/^monitoring_backup_age_seconds\{host="[^"]+",backup_type="[^"]+"\} \d/m)
})

it('the page of the whole host has the metrics of all services and of the host', async () => {
  const types = await typesOf('/metrics/prometheus')
  const expected = [...SERVICES.map((service) => `${service}_info`), 'monitoring_service_up']
  expect(expected.filter((name) => types.get(name) !== 'gauge')).toEqual([])
  expect([...Object.keys(OF_ONE_SERVICE)].filter((name) => !types.has(name))).toEqual([])
  expect([...types.keys()].some((name) => name?.startsWith('monitoring_system_'))).toBe(true)
})
