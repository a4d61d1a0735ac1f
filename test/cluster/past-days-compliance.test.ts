import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eraseDue } from '../../src/features/compliance/erasure/erasure.jobs.ts'
import { applyRetention } from '../../src/features/compliance/retention/retention.jobs.ts'
import { keepLogDays } from '../../src/features/mail-log/mail-log.days.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { clickHouseMissing, startClickHouse, startLosingProxy } from '../support/clickhouse.ts'
import { startPastDays, TRACE } from '../support/past-days.ts'
import { skipped } from '../support/programs.ts'
import { waitFor } from '../support/wait.ts'
import { unzip } from '../support/zip.ts'

const PATH = '/api/v1/compliance'
const REASON = 'As agreed with the customer'
const JANE = 'jane@far.test'

describe.skipIf(clickHouseMissing)(
  `personal data in days that have moved to ClickHouse${skipped(clickHouseMissing)}`,
  () => {
    let clickhouse: Awaited<ReturnType<typeof startClickHouse>>
    let proxy: Awaited<ReturnType<typeof startLosingProxy>>
    let host: Awaited<ReturnType<typeof startPastDays>>
    let owner: Awaited<ReturnType<typeof startPastDays>>['operator']
    beforeAll(async () => {
      clickhouse = await startClickHouse()
      proxy = await startLosingProxy(clickhouse.port)
    })
    afterAll(async () => {
      await proxy?.stop()
      await clickhouse?.stop()
    })
    const start = async (env: Record<string, string> = {}) => {
      host = await startPastDays(clickhouse, { through: proxy.port, env })
      owner = host.operator
    }
    afterEach(() => host?.app.stop())
    const advanceDays = async (days: number) => {
      host.app.clock.advance(days * DAY_MS)
      owner = await host.app.operator('owner')
    }
    const traced = async (query = '') => {
      const { body } = await owner.get(`${TRACE}?limit=100&${query}`)
      return body.data.map(({ id }: { id: string }) => id).sort()
    }
    const hold = (organization_id: string, custodians: string[]) =>
      owner.post(`${PATH}/legal-holds`, {
        organization_id,
        name: 'Case 12',
        custodians,
        reason: REASON,
      })
    const release = ({ body }: Awaited<ReturnType<typeof hold>>) =>
      owner.post(`${PATH}/legal-holds/${body.data.id}/release`, { reason: REASON })

    describe('a person', () => {
      beforeEach(async () => {
        await start()
        for (const days of [10, 9]) await host.makeDay(-days)
        const { globex, row } = host
        await host.insert([
          row('sent', -10, { sender: JANE, subject: 'from Jane', bounce_reason: JANE }),
          row('received', -9, { recipient: JANE, subject: 'to Jane', sasl_username: 'Shop' }),
          row('by alias', -9, { original_recipient: JANE }),
          row('to another', -9, { recipient: `x${JANE}`, subject: 'not to Jane' }),
          row('of another', -9, { sender: JANE, organization_id: globex.organizationId }),
          row('recent', 0, { sender: JANE, subject: 'from Jane, today' }),
        ])
        await host.move()
        expect(await host.inClickHouse()).toHaveLength(5)
      })

      it('gets an export with the rows of both sides, each once', async () => {
        const request = { requested_by: 'jane', export_type: 'full' }
        const asked = await owner.post(`${PATH}/data-export/${JANE}`, request)
        expect(asked.status).toBe(201)
        const done = await waitFor(async () => {
          const { body } = await owner.get(`${PATH}/data-export/${JANE}/status`)
          return body.data.items[0].status === 'completed' && body.data.items[0]
        })
        const cookie = [...owner.jar].map(([name, value]) => `${name}=${value}`).join('; ')
        // An open connection would keep the app from its end.
        const headers = { cookie, connection: 'close' }
        const file = await fetch(host.app.base + done.download_url, { headers })
        const entries = unzip(Buffer.from(await file.arrayBuffer()))
        const text = (name: string) => entries.get(name)?.toString() ?? ''
        const log = text('logs/mail.ndjson').trim().split('\n')
        expect(log.map((line) => JSON.parse(line).id)).toEqual([
          'sent',
          'of another',
          'recent',
          'received',
          'by alias',
        ])
        expect(JSON.parse(log[0] ?? '')).toEqual({
          id: 'sent',
          timestamp: `${host.dateOf(-10)}T12:00:00.123Z`,
          sender: JANE,
          recipient: host.acme.email,
          subject: 'from Jane',
          status: 'delivered',
          message_id: null,
          size: null,
        })
        expect(JSON.parse(text('contacts.json'))).toEqual([
          { address: host.acme.email, sent: 3, received: 0 },
          { address: 'ann@elsewhere.test', sent: 0, received: 1 },
        ])
      })

      it('is known by past days alone', async () => {
        await host.app.core.db.deleteFrom('mail_log').execute()
        const request = { requested_by: 'jane' }
        expect((await owner.post(`${PATH}/data-export/${JANE}`, request)).status).toBe(201)
        const unknown = await owner.post(`${PATH}/data-export/who${JANE}`, request)
        expect(unknown.status).toBe(404)
      })

      it('cannot be erased while a legal hold covers rows of past days', async () => {
        await host.app.core.db.deleteFrom('mail_log').execute()
        await hold(host.globex.organizationId, [])
        const refused = await owner.post(`${PATH}/data-erasure/${JANE}`, { requested_by: 'jane' })
        expect(refused.status).toBe(409)
      })

      it('is erased on both sides, also when ClickHouse was away at first', async () => {
        await owner.post(`${PATH}/data-erasure/${JANE}`, { requested_by: 'jane' })
        await advanceDays(31)
        // After the look for legal holds.
        proxy.loseAfter(1, 'request')
        await eraseDue.run(host.app.core)
        const status = async () =>
          (await owner.get(`${PATH}/data-erasure/${JANE}/status`)).body.data.items[0]
        expect(await status()).toMatchObject({
          status: 'soft_deleted',
          error_message: expect.stringContaining('past days'),
        })
        proxy.mend()
        await advanceDays(1)
        await eraseDue.run(host.app.core)
        expect(await status()).toMatchObject({
          status: 'hard_deleted',
          removed: { mail_log: { rows: 5 } },
        })
        expect(await traced()).toHaveLength(6)
        expect((await owner.get(`${TRACE}?limit=100`)).text).not.toMatch(
          /(?<!x)jane@|from Jane|"to Jane/,
        )
        expect(await traced('subject=not+to+Jane')).toEqual(['to another'])
        expect(await traced('login=shop')).toEqual(['received'])
        expect(await traced('sender=erased.invalid')).toEqual(['of another', 'recent', 'sent'])
      })
    })

    describe('retention', () => {
      it('of an organization deletes its old rows there, except those under a hold', async () => {
        await start()
        await host.makeDay(-40)
        const { acme, globex, row } = host
        await host.insert([
          row('old', -40),
          row('old held', -40, { sender: JANE }),
          row('held by alias', -40, { original_recipient: JANE }),
          row('of another', -40, { organization_id: globex.organizationId }),
          row('of nobody', -40, { organization_id: null }),
          row('recent', 0),
        ])
        await host.move()
        await owner.put(`${PATH}/retention-policies/${acme.organizationId}`, {
          retention_days: 30,
          reason: REASON,
        })
        const path = `${PATH}/retention-policies/${acme.organizationId}/preview?retention_days=30`
        const preview = await owner.get(path)
        expect(preview.body.data.counts).toMatchObject({ log_rows: 3 })
        const held = await holdOnJane()
        await advanceDays(8)
        await applyRetention.run(host.app.core)
        const kept = ['held by alias', 'of another', 'of nobody', 'old held', 'recent']
        expect(await traced()).toEqual(kept)
        expect(await host.inClickHouse()).toHaveLength(4)
        await release(held)
        await advanceDays(2)
        await applyRetention.run(host.app.core)
        expect(await traced()).toEqual(['of another', 'of nobody', 'recent'])
      })

      /** Jane is no mailbox of the organization, so the hold is entered as an older version did. */
      async function holdOnJane() {
        const made = await hold(host.acme.organizationId, [host.acme.email])
        expect(made.status).toBe(201)
        await host.app.core.db
          .updateTable('legal_holds')
          .set({ custodians: [JANE] })
          .execute()
        return made
      }

      it('of the platform drops whole days there, except rows that a hold or a policy keeps', async () => {
        await start({ MAIL_LOG_RETENTION_DAYS: '90' })
        for (const days of [95, 94, 93, 20]) await host.makeDay(-days)
        const { acme, globex, row } = host
        await host.insert([
          row('dropped', -95, { recipient: `colleague@${acme.domain}` }),
          row('held', -94, { recipient: acme.email }),
          row('of a colleague', -94, { recipient: `colleague@${acme.domain}` }),
          row('of nobody', -94, { organization_id: null, recipient: '' }),
          row('of a longer policy', -93, { organization_id: globex.organizationId }),
          row('beside it', -93, { recipient: `colleague@${acme.domain}` }),
          row('young', -20),
        ])
        await host.move()
        const held = await hold(acme.organizationId, [acme.email])
        await owner.put(`${PATH}/retention-policies/${globex.organizationId}`, {
          retention_days: 365,
          reason: REASON,
        })
        await keepLogDays.run(host.app.core)
        const kept = ['held', 'of a longer policy', 'young']
        expect(await host.inClickHouse()).toEqual(kept)
        expect(await traced()).toEqual(kept)
        await release(held)
        await keepLogDays.run(host.app.core)
        expect(await traced()).toEqual(['of a longer policy', 'young'])
        const days = await host.app.core.db.selectFrom('mail_log_moves').select('day').execute()
        expect(days).toHaveLength(2)
      })

      it('of the platform heeds a hold that is made while ClickHouse hangs', async () => {
        await start({ MAIL_LOG_RETENTION_DAYS: '90' })
        await host.makeDay(-95)
        await host.insert([host.row('old', -95)])
        await host.move()
        const { requests } = proxy
        clickhouse.pause()
        const dropping = keepLogDays.run(host.app.core)
        try {
          await waitFor(() => proxy.requests > requests)
          expect((await hold(host.acme.organizationId, [])).status).toBe(201)
        } finally {
          clickhouse.resume()
        }
        await dropping
        expect(await traced()).toEqual(['old'])
      })
    })
  },
)
