import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { moveDays } from '../../src/features/mail-log/past-days/move-days.ts'
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts'
import { serviceLog } from '../../src/log.ts'
import { clickHouseMissing, startClickHouse } from '../../test/support/clickhouse.ts'
import type { Row } from '../parts.ts'
import { type Started, stopAll } from '../servers.ts'
import type { Case } from '../traffic/cases.ts'
import { startTrafficInstallation } from '../traffic/installation.ts'
import { BUSIEST } from '../traffic/seed.ts'
import { quantile, timeRoute } from '../traffic/timing.ts'

const option = (name: string, fallback: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
const ROWS = option('rows', 10_000_000)
const REQUESTS = option('requests', 20)
const DAYS = 60
const DATABASE = 'mailplane'

const dateBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const oneDay = `start_date=${dateBefore(30)}&end_date=${dateBefore(30)}`

/** Traces of days that move. */
const traces: Case[] = [
  ['one day', oneDay],
  ['one day and organization', `${oneDay}&organization_id=${BUSIEST.organization}`],
  ['one day and subject', `${oneDay}&subject=order+4711+is`],
  [`${DAYS} days and recipient`, 'recipient=nobody@nowhere.test'],
  [`${DAYS} days and Message-ID`, 'message_id=no-such-message@nowhere.test'],
].map(([name = '', query]) => ({
  name: `trace by ${name}`,
  caller: 'operator',
  path: `/api/v1/message-trace/trace?${query}`,
}))

/** The same traces from PostgreSQL and, after its days have moved, from ClickHouse. */
export default async function measure(): Promise<Row[]> {
  if (clickHouseMissing) return [{ what: 'skipped', value: clickHouseMissing }]
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-past-days-'))
  const started: Started[] = []
  const clickhouse = await startClickHouse()
  try {
    const dataDir = join(folder, 'data')
    const env = {
      MAIL_LOG_CLICKHOUSE_URL: await clickhouse.database(DATABASE),
      // The server moves nothing by itself.
      MAIL_LOG_CLICKHOUSE_AFTER_DAYS: '36500',
      MAIL_LOG_RETENTION_DAYS: '0',
    }
    const installation = await startTrafficInstallation(dataDir, ROWS, DAYS, started, env)
    const { server, callers, database } = installation
    const timed = async (request: Case) => {
      const latencies = await timeRoute(server.url, request, callers.operator, REQUESTS)
      return `${quantile(latencies, 0.95).toFixed(1)} ms`
    }
    const before = new Map<string, string>()
    for (const request of traces) before.set(request.name, await timed(request))
    const report: Row[] = [{ what: 'rows, in days', value: `${ROWS} in ${DAYS}` }]
    const bytesBefore = await bytesOfDays(database.sql)
    const seconds = await move(dataDir, { ...env, MAIL_LOG_CLICKHOUSE_AFTER_DAYS: '7' })
    const [moved] = await database.sql<{ rows: number }[]>`
      select sum(row_count)::integer as rows from mail_log_moves where moved_at is not null`
    const rows = moved?.rows ?? 0
    report.push({ what: 'moving', value: `${rows} rows, ${(rows / seconds).toFixed(0)} a second` })
    const freed = bytesBefore - (await bytesOfDays(database.sql))
    const stored = await clickhouse.ask(
      `select sum(bytes_on_disk) from system.parts where active and database = '${DATABASE}'`,
    )
    report.push({
      what: 'bytes a row, in PostgreSQL and in ClickHouse',
      value: `${(freed / rows).toFixed(0)} and ${(Number(stored) / rows).toFixed(0)}`,
    })
    for (const request of traces) {
      const value = `p95 ${before.get(request.name)} before, ${await timed(request)} after`
      report.push({ what: request.name, value })
    }
    await database.close()
    return report
  } finally {
    await stopAll(started)
    await clickhouse.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Sql = Awaited<ReturnType<typeof startTrafficInstallation>>['database']['sql']

async function bytesOfDays(sql: Sql): Promise<number> {
  const [days] = await sql<{ bytes: string }[]>`
    select coalesce(sum(pg_total_relation_size(relid)), 0)::text as bytes
    from pg_partition_tree('mail_log')`
  return Number(days?.bytes)
}

/** Returns the seconds; the time for a copy to settle is not waited for. */
async function move(dataDir: string, env: Record<string, string>): Promise<number> {
  const target = runningEmbedded(dataDir)
  if (!target) throw new Error('the embedded PostgreSQL is not running')
  const config = readConfig({ DATA_DIR: dataDir, ...env })
  const { log, close } = serviceLog('bench', config)
  let now = new Date()
  const core = await startCore({ config, log, target, listeners: [], now: () => now })
  const begin = performance.now()
  while (await moveDays.round(core)) {}
  now = new Date(now.getTime() + HOUR_MS)
  while (await moveDays.round(core)) {}
  const seconds = (performance.now() - begin) / 1000
  await core.close()
  close()
  return seconds
}
