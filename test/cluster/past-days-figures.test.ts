import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clickHouseMissing, startClickHouse } from '../support/clickhouse.ts'
import { startPastDays } from '../support/past-days.ts'
import { skipped } from '../support/programs.ts'

const CREDENTIALS = '/api/v1/smtp-credentials/'

describe.skipIf(clickHouseMissing)(
  `figures over days that have moved to ClickHouse${skipped(clickHouseMissing)}`,
  () => {
    let clickhouse: Awaited<ReturnType<typeof startClickHouse>>
    let host: Awaited<ReturnType<typeof startPastDays>>
    beforeAll(async () => {
      clickhouse = await startClickHouse()
      host = await startPastDays(clickhouse)
    })
    afterAll(async () => {
      await host?.app.stop()
      await clickhouse?.stop()
    })

    it('are the same before and after the move, and without ClickHouse but for correspondents', async () => {
      const { acme, globex, row } = host
      const source = `sales@${acme.domain}`
      const added = await acme.post('/api/v1/aliases/add', { source, destination: acme.email })
      expect(added.status).toBe(200)
      const credential = await acme.post(CREDENTIALS, { domain_id: acme.domainId })
      const { id } = credential.body.data
      const own = { sender: acme.email, credential_id: id, sasl_username: 'app' }
      for (const days of [40, 9, 8]) await host.makeDay(-days)
      await host.insert(
        [40, 9, 8, 1].flatMap((days) => [
          row(`one-${days}`, -days, { recipient: source, message_id: `one-${days}` }),
          row(`again-${days}`, -days, { original_recipient: source, message_id: `one-${days}` }),
          row(`two-${days}`, -days, { recipient: source, status: 'sent' }),
          row(`no-${days}`, -days, { recipient: source, status: 'deferred' }),
          row(`theirs-${days}`, -days, {
            recipient: source,
            organization_id: globex.organizationId,
          }),
          row(`sent-${days}`, -days, { ...own, recipient: 'Jane@far.test' }),
          row(`tried-${days}`, -days, {
            ...own,
            recipient: 'jane@far.test',
            status: 'deferred',
            superseded: true,
          }),
          row(`bounced-${days}`, -days, { ...own, recipient: 'joe@far.test', status: 'bounced' }),
        ]),
      )
      const figures = async () => {
        const data = async (path: string) => (await acme.get(path)).body.data
        const [alias] = await data(`/api/v1/aliases/get/${source}`)
        const { monthly_volume } = await data(`/api/v1/aliases/get/stats/${acme.domain}`)
        const month = await data(`${CREDENTIALS}${id}/usage`)
        const year = await data(`${CREDENTIALS}${id}/usage?days=365`)
        const { total_sent } = await data(`/api/v1/tracking/stats/domain/${acme.domain}`)
        return {
          monthly_forwards: alias.monthly_forwards,
          monthly_volume,
          by_status: [month.by_status, year.by_status],
          total_sent,
        }
      }
      const before = await figures()
      expect(before).toEqual({
        monthly_forwards: 6,
        monthly_volume: [-9, -8, -1].map((days) => ({
          date: host.dateOf(days),
          forwards_count: 2,
        })),
        by_status: [
          { bounced: 3, delivered: 3 },
          { bounced: 4, delivered: 4 },
        ],
        total_sent: 3,
      })
      await host.move()
      expect(await host.inClickHouse()).toHaveLength(24)
      expect(await figures()).toEqual(before)

      const collect = () => acme.post(`/api/v1/caldav/contacts/sync/${acme.email}`)
      expect((await collect()).body.data).toMatchObject({ correspondents: 2 })
      await clickhouse.kill()
      expect(await figures()).toEqual(before)
      expect((await collect()).status).toBe(503)
    })
  },
)
