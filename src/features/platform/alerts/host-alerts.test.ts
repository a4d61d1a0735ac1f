import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { startDnsServer } from '../../../../test/support/dns-server.ts'
import { startSink } from '../../../../test/support/smtp-sink.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { checkHost } from '../../monitoring/host/host-check.ts'
import { takeSamples } from '../../monitoring/samples/sampler.ts'
import { lookUpListings } from '../../reputation/reputation.jobs.ts'
import { reportRun } from '../backups/backups.repository.ts'
import { channelSender } from './delivery/channel-sender.ts'
import { dispatcher } from './delivery/dispatcher.ts'
import { evaluator } from './evaluation/evaluator.ts'
import { DEFAULT_RULES } from './rules/default-rules.ts'

const RULES = '/api/v1/platform/alerts/rules'
const LISTED = '25.2.0.192.one.test'
const OWNER = 'root@ops.test'

let app: App
let dns: Awaited<ReturnType<typeof startDnsServer>>
let sink: Awaited<ReturnType<typeof startSink>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  dns = await startDnsServer()
  sink = await startSink()
  app = await startApp({
    env: {
      SVC_DNS_SERVERS: dns.address,
      SVC_DNS_TIMEOUT: '1',
      SENDING_IPS: '192.0.2.25, 192.0.2.26',
      RBL_ZONES: 'one.test, two.test',
      POSTFIX_CONFIG_DIR: '/nowhere',
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(sink.port),
      ADMIN_EMAIL: 'admin@host.test',
    },
  })
  const bootstrapped = await app.send('POST', '/api/v1/platform/auth/bootstrap', {
    headers: {
      'x-bootstrap-token': readFileSync(
        join(app.dataDir, 'operator-bootstrap-token'),
        'utf8',
      ).trim(),
    },
    body: { email: OWNER, full_name: 'Root', password: PASSWORD },
  })
  expect(bootstrapped.status).toBe(200)
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
  await dns.stop()
})
beforeEach(async () => {
  app.clock.reset()
  operator = await app.operator('operator')
})

const listed = async () =>
  (await operator.get(`${RULES}?per_page=100&sort=name&direction=asc`)).body.data.items as {
    id: string
    name: string
    metric: string
    channel_ids: string[]
  }[]
/** The value that a dry run of the rule on a metric reads. */
const measured = async (metric: string): Promise<number | null> => {
  const rule = (await listed()).find((one) => one.metric === metric)
  const answer = await operator.post(`${RULES}/${rule?.id}/evaluate`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data.value
}
const disk = (percent: number, host = 'mx1') =>
  checkHost(
    app.core,
    {
      cpu_percent: null,
      memory_percent: 1,
      memory_bytes: 1,
      disk_percent: percent,
      load_average: [],
    },
    host,
  )
const backup = (hostname: string, status: 'completed' | 'failed', at: Date) =>
  reportRun(
    app.core.db,
    {
      backup_id: `${hostname}-${status}`,
      hostname,
      backup_type: 'full',
      target: 'all',
      encrypted: true,
      status,
    },
    at,
  )
const ago = (hours: number) => new Date(app.core.now().getTime() - hours * HOUR_MS)
async function runOnce(): Promise<void> {
  await evaluator(app.core).run()
  const sender = channelSender(app.core)
  await dispatcher({ ...app.core, sender }).drain()
  await sender.close()
}

describe('alerts on the host (B8)', () => {
  it('are set up for the first operator, by mail', async () => {
    const rules = await listed()
    expect(rules.map(({ name }) => name)).toEqual(DEFAULT_RULES.map(({ name }) => name).sort())
    const { body } = await operator.get('/api/v1/platform/alerts/channels')
    const [channel] = body.data.items
    expect(channel).toMatchObject({ name: 'Operators', type: 'email', target: OWNER })
    for (const { channel_ids } of rules) expect(channel_ids).toEqual([channel.id])
  })

  it('measure the fullest disk of the hosts that still report', async () => {
    expect(await measured('disk_used_percent')).toBeNull()
    await disk(97.5, 'retired')
    app.clock.advance(20 * MINUTE_MS)
    operator = await app.operator('operator')
    await disk(40, 'mx1')
    await disk(61.5, 'mx2')
    expect(await measured('disk_used_percent')).toBe(61.5)
  })

  it('measure the age of the oldest last backup', async () => {
    // Without any backup, the age of the installation.
    expect(await measured('backup_age_hours')).toBeGreaterThanOrEqual(0)
    app.clock.advance(48 * HOUR_MS)
    operator = await app.operator('operator')
    expect(await measured('backup_age_hours')).toBeGreaterThanOrEqual(48)
    app.clock.reset()
    operator = await app.operator('operator')
    await backup('mx1', 'completed', ago(2))
    expect(await measured('backup_age_hours')).toBeCloseTo(2, 0)
    await backup('mx2', 'completed', ago(30))
    await backup('mx2', 'failed', ago(1))
    expect(await measured('backup_age_hours')).toBeCloseTo(30, 0)
    await app.core.db.deleteFrom('backup_runs').where('hostname', '=', 'mx2').execute()
    await backup('mx3', 'failed', ago(10))
    expect(await measured('backup_age_hours')).toBeCloseTo(10, 0)
  })

  it('measure the deferred messages by the last sample of the queue', async () => {
    expect(await measured('queue_deferred')).toBeNull()
    const arrived = app.core.now()
    const message = { queue_id: 'ABCDEF', sender: '', recipients: [], size: 1, arrived }
    await takeSamples({
      ...app.core,
      mailQueue: {
        ...app.core.mailQueue,
        async walk(visit) {
          for (const status of ['deferred', 'hold', 'deferred'] as const) {
            visit({ ...message, status })
          }
          return undefined
        },
      },
    })
    expect(await measured('queue_deferred')).toBe(2)
    app.clock.advance(HOUR_MS)
    operator = await app.operator('operator')
    expect(await measured('queue_deferred')).toBeNull()
  })

  it('measure listings of the sending addresses, fire by mail and resolve', async () => {
    const lookUp = () => lookUpListings(app.core.config).run(app.core)
    dns.state.records = { [LISTED]: { A: ['127.0.0.2'] } }
    await lookUp()
    expect(await measured('dns_block_listings')).toBe(1)
    await runOnce()
    const firing = () => sink.to(OWNER).filter(({ data }) => data.includes('block list'))
    expect(firing()).toHaveLength(1)
    expect(firing()[0]?.data).toContain('CRITICAL: Sending address is on a block list')
    // A list that refuses this resolver says nothing about the address.
    dns.state.records = { [LISTED]: { A: ['127.255.255.254'] } }
    await lookUp()
    await runOnce()
    expect(firing()).toHaveLength(1)
    dns.state.records = {}
    await lookUp()
    expect(await measured('dns_block_listings')).toBe(0)
    await runOnce()
    expect(firing()).toHaveLength(2)
  })

  it('have no value for listings while no list is configured', async () => {
    const other = await startApp()
    try {
      const support = await other.operator('operator')
      const { body } = await support.post(RULES, {
        name: 'Listed',
        metric: 'dns_block_listings',
        comparator: '>',
        threshold: 0,
      })
      const answer = await support.post(`${RULES}/${body.data.id}/evaluate`)
      expect(answer.body.data).toMatchObject({ value: null, would_fire: false })
    } finally {
      await other.stop()
    }
  })

  it('can be added again, those that are missing only', async () => {
    const [gone, ...kept] = await listed()
    await operator.delete(`${RULES}/${gone?.id}`, { reason: 'test' })
    await operator.put(`${RULES}/${kept[0]?.id}`, { threshold: 3 })
    expect((await operator.post(`${RULES}/defaults`, { channel_ids: ['nope'] })).status).toBe(422)
    const add = () => operator.post(`${RULES}/defaults`, {})
    const answers = await Promise.all([add(), add()])
    const added = answers.flatMap(({ body }) => body.data.items)
    expect(added).toMatchObject([{ name: gone?.name, channel_ids: [], enabled: true }])
    expect(await listed()).toHaveLength(DEFAULT_RULES.length)
    const support = await app.operator('support')
    expect((await support.post(`${RULES}/defaults`, {})).status).toBe(403)
  })
})
