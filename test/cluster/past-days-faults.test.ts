import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../src/database/database.ts'
import { moveDays } from '../../src/features/mail-log/past-days/move-days.ts'
import { MINUTE_MS } from '../../src/lib/time.ts'
import { clickHouseMissing, startClickHouse, startLosingProxy } from '../support/clickhouse.ts'
import { startPastDays, TRACE } from '../support/past-days.ts'
import { skipped } from '../support/programs.ts'

describe.skipIf(clickHouseMissing)(
  `an interrupted move of a day to ClickHouse${skipped(clickHouseMissing)}`,
  () => {
    let clickhouse: Awaited<ReturnType<typeof startClickHouse>>
    let proxy: Awaited<ReturnType<typeof startLosingProxy>>
    let host: Awaited<ReturnType<typeof startPastDays>>

    // More than one batch.
    const ROWS = 7000
    beforeAll(async () => {
      clickhouse = await startClickHouse()
      proxy = await startLosingProxy(clickhouse.port)
      host = await startPastDays(clickhouse, { through: proxy.port })
      await host.makeDay(-9)
      await sql`
      insert into mail_log (id, "timestamp", sender, recipient, status, organization_id)
      select 'row-' || n, ${host.row('', -9).timestamp}::timestamptz + n * interval '1 second',
        'ann@elsewhere.test', ${host.acme.email}, 'delivered', ${host.acme.organizationId}
      from generate_series(1, ${ROWS}) as n`.execute(host.app.core.db)
    })
    afterAll(async () => {
      await host?.app.stop()
      await proxy?.stop()
      await clickhouse?.stop()
    })

    /** The process is gone: its leases end. */
    const afterDeath = () =>
      host.app.core.db.updateTable('mail_log_moves').set({ lease_until: '-infinity' }).execute()
    const total = async () => (await host.operator.get(TRACE)).body.total
    /** Rows that the trace finds, and rows in ClickHouse. */
    const counts = async () => [await total(), (await host.inClickHouse()).length]
    /** As before the move. */
    async function takeBack() {
      await host.makeDay(-9)
      await host.app.core.db.deleteFrom('mail_log_moves').execute()
      await sql`insert into mail_log select * from rows_before`.execute(host.app.core.db)
    }

    it.each(['request', 'answer'] as const)(
      'loses and doubles no row when ClickHouse loses any %s of it',
      async (what) => {
        await sql`create table if not exists rows_before as table mail_log`.execute(
          host.app.core.db,
        )
        let requests = 0
        for (let isMoved = false; !isMoved; requests++) {
          proxy.loseAfter(requests, what)
          isMoved = await host.move().then(
            () => true,
            () => false,
          )
          proxy.mend()
          await afterDeath()
          expect(await total()).toBe(ROWS)
          if (isMoved) break
          // Rows of an interrupted copy are not read.
          await host.move()
          expect(await counts()).toEqual([ROWS, ROWS])
          expect(await host.dayNames()).not.toContain(host.nameOf(-9))
          await takeBack()
        }
        // The table, old copies, two batches, and the sums.
        expect(requests).toBeGreaterThan(4)
        await takeBack()
      },
    )

    it.each(['before', 'after'] as const)(
      'loses and doubles no row when the process ends %s any statement of it',
      async (when) => {
        let statements = 0
        for (let isMoved = false; !isMoved; statements++) {
          const core = { ...host.moving(), db: dying(host.app.core.db, statements, when) }
          isMoved = await host.move(core).then(
            () => true,
            () => false,
          )
          await afterDeath()
          expect(await total()).toBe(ROWS)
          if (isMoved) break
          await host.move()
          expect(await counts()).toEqual([ROWS, ROWS])
          await takeBack()
        }
        expect(statements).toBeGreaterThan(10)
        await takeBack()
      },
    )

    it('copies a day again when one of its rows has changed meanwhile', async () => {
      await host.copy()
      const change = { sender: 'erased@erased.invalid', subject: null }
      await host.app.core.db.updateTable('mail_log').set(change).where('id', '=', 'row-1').execute()
      host.app.clock.advance(3 * MINUTE_MS)
      expect(await moveDays.round(host.moving())).toBe(true)
      expect(await host.dayNames()).toContain(host.nameOf(-9))
      await host.move()
      expect(await host.dayNames()).not.toContain(host.nameOf(-9))
      const { body } = await host.operator.get(`${TRACE}?sender=erased@erased.invalid`)
      expect(body).toMatchObject({ total: 1, data: [{ id: 'row-1' }] })
      expect(await counts()).toEqual([ROWS, ROWS])
      await takeBack()
    })

    it('keeps the day until ClickHouse is back when it was killed after the copy', async () => {
      await host.copy()
      await clickhouse.kill()
      host.app.clock.advance(3 * MINUTE_MS)
      await expect(moveDays.round(host.moving())).rejects.toThrow('not available')
      expect(await total()).toBe(ROWS)
      await clickhouse.start()
      await host.move()
      expect(await host.dayNames()).not.toContain(host.nameOf(-9))
      expect(await counts()).toEqual([ROWS, ROWS])
    })
  },
)

/** A database that fails before or after a statement, and before all that follow. */
function dying(db: Db, count: number, when: 'before' | 'after'): Db {
  let left = count
  const die = () => {
    throw new Error('the process has ended')
  }
  return db.withPlugin({
    transformQuery({ node }) {
      if (left < 0 || (left === 0 && when === 'before')) die()
      left--
      return node
    },
    async transformResult({ result }) {
      if (left < 0) die()
      return result
    },
  })
}
