import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, expect, it } from 'vitest'
import { installation } from '../support/installation.ts'
import { cleanUp, run, startServer } from '../support/process.ts'

const SETTLE_MS = 4000
const WATCH_MS = 5000
/**
 * All services together poll a few times a second; a loop that triggers itself queries thousands of
 * times.
 */
const MOST_A_SECOND = 60

afterAll(cleanUp)

it('an idle server sends almost no queries to its database', async () => {
  const made = await installation()
  const server = await startServer(made)
  const { stdout } = await run(['db', 'url'], { DATA_DIR: made.dataDir })
  const sql = postgres(stdout.trim(), { max: 1 })
  const transactions = async () => {
    const [row] = await sql`select xact_commit + xact_rollback as count from pg_stat_database
      where datname = current_database()`
    return Number(row?.count)
  }
  await sleep(SETTLE_MS)
  const before = await transactions()
  await sleep(WATCH_MS)
  const perSecond = ((await transactions()) - before) / (WATCH_MS / 1000)
  await sql.end()
  await server.stop()
  expect(perSecond).toBeLessThan(MOST_A_SECOND)
})
