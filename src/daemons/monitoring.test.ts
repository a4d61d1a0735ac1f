import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { startSink } from '../../test/support/smtp-sink.ts'
import { waitFor } from '../../test/support/wait.ts'
import { startHeartbeat } from '../features/monitoring/heartbeat.ts'
import { checkHost } from '../features/monitoring/host/host-check.ts'
import { takeSamples } from '../features/monitoring/samples/sampler.ts'
import { sweep } from '../features/monitoring/sweep.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { monitoring } from './monitoring.ts'
import { offerRestart } from './restarts.ts'

const PATH = '/api/v1/monitoring'

let app: App
let support: Awaited<ReturnType<App['operator']>>
let operator: Awaited<ReturnType<App['operator']>>
let smtp: Awaited<ReturnType<typeof startSink>>
let hook: Awaited<ReturnType<typeof startReceiver>>
let rspamd: http.Server
let pong = 'pong\r\n'
beforeAll(async () => {
  smtp = await startSink()
  hook = await startReceiver()
  rspamd = http.createServer((_request, response) => response.end(pong))
  await new Promise<void>((resolve) => rspamd.listen(0, '127.0.0.1', resolve))
  app = await startApp({
    env: {
      MONITOR_SMTP_HOST: '127.0.0.1',
      MONITOR_SMTP_PORT: String(smtp.port),
      MONITOR_RSPAMD_URL: `http://127.0.0.1:${(rspamd.address() as AddressInfo).port}`,
      // No service listens on this port.
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: '9',
      SIEVE_PORT: '9',
      WEBHOOK_URL: hook.url,
      WEBHOOK_SECRET: 'hush',
    },
  })
  support = await app.operator('support')
  operator = await app.operator('operator')
})
afterAll(async () => {
  await app.stop()
  await hook.stop()
  await smtp.stop()
  rspamd.close()
})

const told = async (prefix = 'health.') => {
  const rows = await app.core.db
    .selectFrom('events')
    .select(['event', 'data'])
    .where('event', 'like', `${prefix}%`)
    .orderBy('id')
    .execute()
  return rows.map(({ event, data }) => [event, (data as { service?: string }).service])
}

describe('before the first health sweep', () => {
  it.each(['/health', '/services', '/services/api'])('GET %s returns 503', async (path) => {
    const answer = await support.get(PATH + path)
    expect(answer).toMatchObject({
      status: 503,
      body: {
        error: expect.stringContaining('has not looked lately'),
        timestamp: expect.any(String),
      },
    })
    if (path === '/health') expect(answer.body.status).toBe('unhealthy')
  })

  it('the platform overview reports services as degraded', async () => {
    const { body } = await support.get('/api/v1/platform/overview')
    expect(body.data).toMatchObject({ services: null, degraded: ['services'] })
  })
})

describe('a health sweep', () => {
  it('checks every service in its protocol and emits one event per service that is down', async () => {
    await sweep(app.core)
    await sweep(app.core)
    const { status, body } = await support.get(`${PATH}/services`)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      overall_status: 'critical',
      critical_services_down: ['dovecot'],
      services_with_warnings: ['managesieve'],
      total_services: 5,
      healthy_services: 3,
    })
    expect(body.data.services.postfix).toEqual({
      status: 'up',
      protocol: 'smtp',
      critical: true,
      response_time: expect.any(Number),
      check_duration: expect.any(Number),
      error: null,
      since: expect.any(String),
      timestamp: expect.any(String),
    })
    expect(body.data.services.dovecot).toMatchObject({ status: 'down', response_time: null })
    expect(body.data.services.dovecot.error).toMatch(/ECONNREFUSED/)
    expect(await told()).toEqual([
      ['health.service.down', 'dovecot'],
      ['health.service.down', 'managesieve'],
    ])
  })

  it('emits down and up events for a service that returns a wrong response', async () => {
    pong = 'out of memory'
    await sweep(app.core)
    pong = 'pong\r\n'
    await sweep(app.core)
    await sweep(app.core)
    expect((await told()).slice(2)).toEqual([
      ['health.service.down', 'rspamd'],
      ['health.service.up', 'rspamd'],
    ])
  })

  it('emits each change once when several processes sweep at the same time', async () => {
    const before = (await told()).length
    pong = 'no'
    await Promise.all([sweep(app.core), sweep(app.core), sweep(app.core)])
    pong = 'pong\r\n'
    await Promise.all([sweep(app.core), sweep(app.core)])
    expect((await told()).slice(before)).toEqual([
      ['health.service.down', 'rspamd'],
      ['health.service.up', 'rspamd'],
    ])
  })

  it('makes one service readable and returns 404 for an unknown one', async () => {
    const one = await support.get(`${PATH}/services/rspamd`)
    expect(one).toMatchObject({ status: 200, body: { data: { name: 'rspamd', status: 'up' } } })
    const none = await support.get(`${PATH}/services/exchange`)
    expect(none).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('Unknown service exchange') },
    })
  })

  it('updates the platform overview and the health of monitoring', async () => {
    await waitFor(async () => {
      const { body } = await support.get('/api/v1/platform/overview')
      return body.data.services?.down === 2 && body.data.degraded.length === 0
    })
    const health = await support.get(`${PATH}/health`)
    expect(health.body.data).toMatchObject({
      status: 'healthy',
      monitoring_service: { services_monitored: 5 },
    })
  })

  it('reports a killed daemon as down and removes a stopped one', async () => {
    const metrics = { totals: () => ({ requests: 60, errors: 6 }) }
    const beating = startHeartbeat(app.core, [{ name: 'tracking', metrics }], app.base)
    await beating.started
    await sweep(app.core)
    expect((await support.get(`${PATH}/services/tracking`)).body.data.status).toBe('up')
    await takeSamples(app.core)
    await app.core.db
      .updateTable('daemon_heartbeats')
      .set({ seen_at: new Date(Date.now() - MINUTE_MS).toISOString() })
      .execute()
    await sweep(app.core)
    expect((await support.get(`${PATH}/services/tracking`)).body.data).toMatchObject({
      status: 'down',
      error: expect.stringContaining('no sign of life since'),
    })
    await beating.stop()
    await sweep(app.core)
    expect((await support.get(`${PATH}/services/tracking`)).status).toBe(404)
  })
})

describe('host resources', () => {
  const readings = {
    cpu_percent: 10,
    memory_percent: 10,
    memory_bytes: 1000,
    disk_percent: 10,
    load_average: [0, 0, 0],
  }
  it('emit one alert event per change of the level', async () => {
    for (const disk_percent of [10, 76, 77, 86, 87, 40, 41]) {
      await checkHost(app.core, { ...readings, disk_percent }, 'mail1')
    }
    const rows = await app.core.db
      .selectFrom('events')
      .select('data')
      .where('event', '=', 'health.system.alert')
      .orderBy('id')
      .execute()
    expect(rows.map(({ data }) => data)).toMatchObject([
      { alert_type: 'disk_high', severity: 'warning', host: 'mail1', value: 76 },
      { alert_type: 'disk_high', severity: 'critical', value: 86 },
      { alert_type: 'disk_high', severity: 'info', value: 40 },
    ])
    const { hosts } = (await support.get(`${PATH}/stats`)).body.data
    expect(hosts).toContainEqual(expect.objectContaining({ resource: 'disk', level: 'ok' }))
  })
})

describe('monitoring figures', () => {
  it('cover the host and its mail', async () => {
    const metrics = await support.get(`${PATH}/metrics`)
    expect(metrics.body.data).toMatchObject({
      system: { memory_percent: expect.any(Number), disk_percent: expect.any(Number) },
      mail: { queue_size: 0, deferred_count: 0, active_connections: 0, messages_today: 0 },
    })
    const stats = await support.get(`${PATH}/stats`)
    expect(stats.body.data).toMatchObject({
      services: { total: 5, healthy: 3, down: 2 },
      mail: { active_domains: 0, total_users: 0 },
    })
  })

  it('are sampled and returned as time series', async () => {
    await takeSamples(app.core)
    await takeSamples(app.core)
    const range = async (query: string) =>
      (await support.get(`/api/v1/platform/metrics/range?query=${query}&hours=1`)).body.data
    const up = await range('service_up')
    const labels = up.series.map((one: { label: string }) => one.label)
    expect(labels).toContain('postfix')
    const postfix = up.series.find((one: { label: string }) => one.label === 'postfix')
    expect(postfix.points.at(-1)).toEqual({ t: expect.any(String), v: 1 })
    const requests = await range('http_request_rate')
    expect(requests.series[0]).toMatchObject({ label: 'tracking' })
    expect(requests.series[0].points[0].v).toBeGreaterThan(0)
    expect((await range('memory_usage_bytes')).series[0]).toMatchObject({ label: 'mail1' })
  })
})

describe('restarting a service', () => {
  const restart = (name: string, body: object = {}) =>
    operator.post(`${PATH}/services/${name}/restart`, body)

  it('returns 404 for an unknown service and 409 with a reason for a foreign one', async () => {
    expect((await restart('exchange')).status).toBe(404)
    const cases: [string, RegExp][] = [
      ['postfix', /restart it on its host/],
      ['managesieve', /is a part of dovecot/],
      ['postgresql', /not this process's/],
    ]
    for (const [name, why] of cases) {
      const answer = await restart(name)
      expect(answer.status, name).toBe(409)
      expect(answer.body).toMatchObject({ service: name, error: expect.stringMatching(why) })
    }
  })

  it('is limited to three attempts in five minutes unless forced', async () => {
    let restarts = 0
    offerRestart(app.core, 'tracking', async () => {
      restarts++
      if (restarts === 2) throw new Error('it does not want to')
    })
    const metrics = { totals: () => ({ requests: 0, errors: 0 }) }
    const beating = startHeartbeat(app.core, [{ name: 'tracking', metrics }], app.base)
    await beating.started
    await sweep(app.core)
    const first = await restart('tracking', { reason: 'slow' })
    expect(first).toMatchObject({
      status: 200,
      body: { data: { service: 'tracking', action: 'restart', status: 'success' } },
    })
    const failed = await restart('tracking')
    expect(failed).toMatchObject({ status: 503, body: { error: 'it does not want to' } })
    await restart('tracking')
    const refused = await restart('tracking')
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ retry_after: expect.any(Number) })
    expect(restarts).toBe(3)
    expect((await restart('tracking', { force: true })).status).toBe(200)
    app.clock.advance(301_000)
    await sweep(app.core)
    expect((await restart('tracking')).status).toBe(200)
    expect((await told('health.recovery')).length).toBe(5)
    const audited = await app.core.db
      .selectFrom('operator_audit')
      .select(['status_code', 'request_body'])
      .where('action', '=', 'restart_service')
      .where('target_id', '=', 'tracking')
      .orderBy('id')
      .execute()
    expect(audited[0]).toMatchObject({ status_code: 200, request_body: { reason: 'slow' } })
    await beating.stop()
  })
})

describe('auto-heal', () => {
  it('only reports its actions in a dry run, and restarts services otherwise', async () => {
    let restarts = 0
    offerRestart(app.core, 'managesieve', async () => {
      restarts++
    })
    const heal = (body: object) => operator.post(`${PATH}/auto-heal`, body)
    await sweep(app.core)
    expect((await heal({ services: ['exchange'] })).status).toBe(404)
    const tried = await heal({ services: ['managesieve', 'rspamd'], dry_run: true })
    expect(tried.body.data).toMatchObject({
      status: 'completed',
      dry_run: true,
      actions_taken: [
        { service: 'managesieve', action: 'would_restart' },
        { service: 'rspamd', action: 'none', reason: 'it is up' },
      ],
    })
    expect(restarts).toBe(0)
    const done = await heal({ services: ['managesieve'] })
    expect(done.body.data.actions_taken).toMatchObject([
      { service: 'managesieve', action: 'restarted' },
    ])
    expect(restarts).toBe(1)
    const usual = await heal({})
    expect(usual.body.data.actions_taken.map((one: { service: string }) => one.service)).toEqual([
      'dovecot',
      'postfix',
      'rspamd',
    ])
  })
})

describe('auto-heal of a service that works again', () => {
  it('leaves it alone, because a restart would end its connections', async () => {
    pong = 'ping\r\n'
    await sweep(app.core)
    pong = 'pong\r\n'
    const { body } = await operator.post(`${PATH}/auto-heal`, { services: ['rspamd'] })
    expect(body.data.actions_taken).toEqual([
      { service: 'rspamd', action: 'none', reason: 'it is up again' },
    ])
    await sweep(app.core)
  })
})

describe('testing the monitoring webhooks', () => {
  const test = (body: object = {}) => operator.post(`${PATH}/webhooks/test`, body)

  it('rejects a URL that is not configured with 422', async () => {
    const answer = await test({ webhook_urls: [hook.url, 'http://169.254.169.254/'] })
    expect(answer).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('http://169.254.169.254/ is not configured') },
    })
    expect(hook.got).toHaveLength(0)
    expect((await test({ payload_type: 'nuke' })).status).toBe(422)
  })

  it('posts a signed test event to the configured URL and returns the result', async () => {
    const answer = await test({ payload_type: 'alert' })
    expect(answer.body.data).toMatchObject({
      status: 'completed',
      payload_type: 'alert',
      results: [{ url: hook.url, delivered: true, status_code: 200, error: null }],
    })
    expect(hook.got[0]?.json).toMatchObject({ event: 'health.system.alert', test: true })
    expect(hook.got[0]?.headers['x-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64}$/)
  })
})

describe('the monitoring daemon', () => {
  it('runs its jobs on schedule when two processes share them', async () => {
    await app.core.db.deleteFrom('service_health').execute()
    const one = await monitoring.start(app.core)
    const two = await monitoring.start(app.core)
    try {
      await waitFor(async () => (await support.get(`${PATH}/health`)).status === 200)
      const { rows } = await waitFor(async () => {
        const found = await app.core.db.selectFrom('job_runs').select('name').execute()
        return found.length > 3 && { rows: found.map(({ name }) => name) }
      })
      expect(rows).toEqual(expect.arrayContaining(['monitoring.sweep', 'monitoring.alerts']))
    } finally {
      await two.stop()
      await one.stop()
    }
  })
})

it('emits health.check.failed when the host name of a service cannot be resolved (B5.4)', async () => {
  const settings = { ...app.core.mailServers.current(), IMAP_HOST: 'no-such-host.invalid' }
  const mailServers = { ...app.core.mailServers, current: () => settings }
  await sweep({ ...app.core, mailServers })
  expect(await told('health.check.')).toContainEqual(['health.check.failed', 'dovecot'])
  const { body } = await support.get(`${PATH}/services`)
  expect(JSON.stringify(body)).toContain('no-such-host.invalid')
})
