import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweep } from '../../src/features/monitoring/sweep.ts'
import { HOUR_MS } from '../../src/lib/time.ts'
import { type Client, startApp } from '../support/app.ts'
import { clickHouseMissing, startClickHouse, startLosingProxy } from '../support/clickhouse.ts'
import { MESSAGES, startPastDays, TRACE } from '../support/past-days.ts'
import { run } from '../support/process.ts'
import { skipped } from '../support/programs.ts'
import { waitFor } from '../support/wait.ts'

const AWAY = {
  status: 503,
  body: {
    error: 'The mail log of past days is not available at the moment; try again in a few seconds',
  },
  headers: { 'retry-after': '5' },
}
const HOSTILE = [
  "'; drop table mail_log; --",
  '\\',
  "\\'",
  "') or 1 = 1 or ('",
  '%_\n\t"`',
  'Grüße aus ÄÖÜ 😀',
  "unhex('00')",
]

describe.skipIf(clickHouseMissing)(
  `days of the mail log that have moved to ClickHouse${skipped(clickHouseMissing)}`,
  () => {
    let clickhouse: Awaited<ReturnType<typeof startClickHouse>>
    let proxy: Awaited<ReturnType<typeof startLosingProxy>>
    let host: Awaited<ReturnType<typeof startPastDays>>

    beforeAll(async () => {
      clickhouse = await startClickHouse()
      proxy = await startLosingProxy(clickhouse.port)
      host = await startPastDays(clickhouse, { through: proxy.port })
      for (const days of [12, 11, 10, 9, 8, 7, 1]) await host.makeDay(-days)
      await host.insert([
        ...HOSTILE.map((text, n) =>
          host.row(`hostile-${n}`, -9 - (n % 3), {
            subject: text,
            sender: `${text}@elsewhere.test`.toLowerCase(),
            sasl_username: text,
            message_id: `<${text}@acme.test>`,
          }),
        ),
        ...[12, 11, 10, 9, 8, 7, 1, 0].flatMap((days) => [
          host.row(`in-${days}`, -days, {
            subject: `Order ${days}`,
            spam_score: 1.1 * days,
            size: days,
          }),
          host.row(`out-${days}`, -days, {
            sender: host.acme.email,
            recipient: 'jane@far.test',
            sasl_username: 'Shop-App',
            credential_id: 'credential-1',
            message_id: '<1@acme.test>',
            queue_id: `QUEUE${days}`,
            relay: 'mx.far.test[192.0.2.1]:25',
            dsn: '4.4.1',
            status: 'deferred',
            superseded: days % 2 === 0,
            bounce_reason: 'try\nagain',
          }),
          host.row(`other-${days}`, -days, {
            recipient: host.globex.email,
            organization_id: host.globex.organizationId,
            message_id: '<1@acme.test>',
          }),
          host.row(`nobody-${days}`, -days, { recipient: '', organization_id: null }),
        ]),
        // No partition of its own.
        host.row('no-day', -20, { subject: 'Order' }),
      ])
      await host.app.core.db
        .insertInto('quarantine')
        .values({
          id: 'held-1',
          organization_id: host.acme.organizationId,
          message_id: '<1@acme.test>',
          sender: 'ann@elsewhere.test',
          recipient: host.acme.email,
          subject: 'Order that is held',
          reason: 'policy',
          status: 'quarantined',
          expires_at: host.at(30).toISOString(),
          created_at: host.at(-10).toISOString(),
        })
        .execute()
    })
    afterAll(async () => {
      await host?.app.stop()
      await proxy?.stop()
      await clickhouse?.stop()
    })

    it('changes no answer of the trace, for operators and tenants, with every filter and page', async () => {
      const day = (days: number) => host.dateOf(days)
      const filters = [
        '',
        'limit=500',
        'limit=7&offset=11',
        'limit=10&offset=40',
        'limit=5&offset=9000',
        'sender=ann@elsewhere.test',
        'sender=elsewhere',
        `recipient=${host.acme.email}`,
        'recipient=FAR',
        'subject=order',
        'subject=ORDER 1',
        'subject=',
        'subject=äöü',
        'status=delivered',
        'status=deferred',
        'status=held',
        'status=rejected',
        'message_id=1@acme.test',
        `organization_id=${host.acme.organizationId}`,
        'organization_id=nobody',
        'login=shop-app',
        `start_date=${day(-11)}&end_date=${day(-9)}`,
        `start_date=${day(-8)}`,
        `end_date=${day(-8)}`,
        'start_date=0001-01-01&end_date=9999-12-31',
        ...HOSTILE.flatMap((text) =>
          ['sender', 'recipient', 'subject', 'message_id', 'organization_id', 'login'].map(
            (name) => `${name}=${text}`,
          ),
        ),
      ].map((query) => query.replace(/=([^&]*)/g, (_, value) => `=${encodeURIComponent(value)}`))
      const traced = [
        ...filters.map((query) => `${TRACE}?${query}`),
        `${TRACE}/${encodeURIComponent('<1@acme.test>')}`,
      ]
      const own = [
        ...filters
          .filter((query) => !/limit=500|offset|organization_id/.test(query))
          .map((query) => `${MESSAGES}?${query}`),
        `${MESSAGES}?direction=inbound`,
        `${MESSAGES}?direction=outbound&limit=3`,
        `${MESSAGES}1@acme.test`,
      ]
      const all = async () => [
        await answers(host.operator, traced),
        await answers(host.acme, own),
        await answers(host.globex, own),
        await pages(3),
      ]
      const before = await all()
      await host.move()
      const [oldest] = await host.dayNames()
      expect(oldest).toBe(host.nameOf(-7))
      expect(Object.values(await host.places())).not.toContain(host.nameOf(-9))
      expect(await all()).toEqual(before)
      // Nothing that a tenant sends has reached the other one.
      const found = await host.globex.get(`${MESSAGES}?limit=100`)
      expect(found.text).not.toContain('Order')
    })

    /** All pages of the list of a tenant, from the newest to the oldest. */
    async function pages(limit: number): Promise<string[]> {
      const texts: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { text, body } = await host.acme.get(`${MESSAGES}?limit=${limit}${query}`)
        texts.push(text)
        cursor = body.data.next_cursor
      }
      expect(texts.length).toBeGreaterThan(5)
      return texts
    }

    it('finds a row that comes late for its day, beside those in ClickHouse', async () => {
      await host.insert([host.row('late', -9, { subject: 'Order late' })])
      expect(await host.places()).toMatchObject({ late: 'mail_log_default' })
      const { body } = await host.operator.get(`${TRACE}?subject=order+late`)
      expect(body).toMatchObject({ total: 1, data: [{ id: 'late' }] })
      const date = host.dateOf(-9)
      const day = await host.operator.get(
        `${TRACE}?subject=order&start_date=${date}&end_date=${date}`,
      )
      expect(day.body.data.map(({ id }: { id: string }) => id)).toEqual(['late', 'in-9'])
    })

    it('refuses an offset that would take all rows of past days into memory', async () => {
      expect(await host.operator.get(`${TRACE}?offset=10000`)).toMatchObject({ status: 422 })
      const recent = `start_date=${host.dateOf(-6)}`
      expect(await host.operator.get(`${TRACE}?offset=10000&${recent}`)).toMatchObject({
        status: 200,
      })
    })

    it('answers 503 for past days while ClickHouse is away, and recent days as usual', async () => {
      proxy.loseAfter(0, 'request')
      const recent = `start_date=${host.dateOf(-6)}`
      for (const [client, path] of [
        [host.operator, TRACE],
        [host.acme, MESSAGES],
      ] as const) {
        expect(await client.get(path)).toMatchObject(AWAY)
        expect(await client.get(`${path}?${recent}`)).toMatchObject({ status: 200 })
      }
      expect(await host.acme.get(`${MESSAGES}1@acme.test`)).toMatchObject(AWAY)
      expect(await host.operator.get(`${TRACE}?status=held`)).toMatchObject({ status: 200 })
      proxy.mend()
      expect(await host.operator.get(TRACE)).toMatchObject({ status: 200 })
    })

    it('is a watched service: down while it is away, and while no day moves', async () => {
      const watched = async () => {
        await sweep(host.moving())
        const { body } = await host.operator.get('/api/v1/monitoring/services')
        const { status, error } = body.data.services.clickhouse
        return { status, error }
      }
      expect(await watched()).toEqual({ status: 'up', error: null })
      await host.makeDay(-15)
      expect(await watched()).toEqual({ status: 'up', error: null })
      host.app.clock.advance(2 * HOUR_MS)
      const day = host.dateOf(-15)
      expect(await watched()).toEqual({
        status: 'down',
        error: `${day} of the mail log does not move to ClickHouse`,
      })
      await host.move()
      expect(await watched()).toEqual({ status: 'up', error: null })
      await clickhouse.kill()
      expect(await watched()).toMatchObject({ status: 'down' })
      await clickhouse.start()
    })

    it('finds past days on the command line', async () => {
      const env = {
        DATA_DIR: host.app.dataDir,
        DATABASE_URL: host.app.database.url,
        MAIL_LOG_CLICKHOUSE_URL: host.app.core.config.MAIL_LOG_CLICKHOUSE_URL ?? '',
      }
      const { body } = await host.operator.get(`${TRACE}?login=shop-app`)
      const found = await run(['trace', '--login', 'shop-app', '--json'], env)
      expect(found).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(found.stdout)).toEqual(body.data)
    })

    it('logs the reason of a refusal, and no password', async () => {
      const wrong = new URL(host.app.core.config.MAIL_LOG_CLICKHOUSE_URL ?? '')
      wrong.password = 'not-the-password'
      const env = { MAIL_LOG_CLICKHOUSE_URL: wrong.href, MAIL_LOG_CLICKHOUSE_AFTER_DAYS: '36500' }
      const other = await startApp({ database: host.app.database, env })
      const support = await other.operator('support')
      expect(await support.get(TRACE)).toMatchObject(AWAY)
      const log = await waitFor(() => {
        const text = readFileSync(join(other.dataDir, 'logs', 'api.log'), 'utf8')
        return text.includes('ClickHouse unavailable') && text
      })
      expect(log).toContain('Wrong password for user')
      expect(log).not.toContain('not-the-password')
      await other.stop()
    })

    it('answers 503 for past days when the setting was removed', async () => {
      const other = await startApp({ database: host.app.database })
      const support = await other.operator('support')
      expect(await support.get(TRACE)).toMatchObject(AWAY)
      await other.stop()
    })
  },
)

/** The text of every answer. */
const answers = async (client: Pick<Client, 'get'>, paths: string[]) => {
  const texts: Record<string, string> = {}
  for (const path of paths) {
    const { status, text } = await client.get(path)
    expect([path, status]).toEqual([path, 200])
    texts[path] = text
  }
  return texts
}
