import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { readConfig } from '../src/config/index.ts'
import { startCore } from '../src/core.ts'
import { runningEmbedded } from '../src/database/embedded.ts'
import { webhookQueue } from '../src/features/webhooks/delivery/enqueue.ts'
import { serviceLog } from '../src/log.ts'
import { table } from './report.ts'
import { type Started, stopAll } from './servers.ts'
import { casesOf } from './traffic/cases.ts'
import { measureIngestion } from './traffic/ingest.ts'
import { startTrafficInstallation } from './traffic/installation.ts'
import { measureDecisions, seedSenders } from './traffic/limiter.ts'
import { DOMAINS, sizes } from './traffic/seed.ts'
import { quantile, timeRoute } from './traffic/timing.ts'
import { startRedis } from './webhooks/redis.ts'

const P95_MS = 200
const ROWS_A_SECOND = 5000
const IN_PROCESS = 20_000
const THROUGH_REDIS = 8000

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    days: { type: 'string', default: '90' },
    lines: { type: 'string', default: '1000000' },
    decisions: { type: 'string', default: '400000' },
    requests: { type: 'string', default: '40' },
  },
})
const [rows, days, lines, decisions, requests] = (
  ['rows', 'days', 'lines', 'decisions', 'requests'] as const
).map((name) => Number(values[name])) as [number, number, number, number, number]
const folder = mkdtempSync(join(tmpdir(), 'mailplane-traffic-'))
const started: Started[] = []

async function stop() {
  await stopAll(started)
  rmSync(folder, { recursive: true, force: true })
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop().then(() => process.exit(1)))
}
const say = (text: string) => process.stdout.write(`${text}\n`)
const fail = (problem: string) => {
  say(`WRONG: ${problem}`)
  process.exitCode = 1
}

try {
  const dataDir = join(folder, 'data')
  const installation = await startTrafficInstallation(dataDir, rows, days, started)
  const { server, callers, database, seedSeconds } = installation
  say(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores`)
  say(`${rows} rows of mail over ${days} days and ${DOMAINS} domains; ${seedSeconds.toFixed(0)} s`)

  const size = await sizes(database.sql)
  const perRow = (bytes: number) => (bytes / size.rows).toFixed(0)
  say(
    `a row of mail takes ${perRow(size.log)} bytes with its indexes, its figures ${perRow(size.figures)}`,
  )

  const timed: string[][] = []
  for (const request of casesOf(days)) {
    const latencies = await timeRoute(server.url, request, callers[request.caller], requests)
    const p95 = quantile(latencies, 0.95)
    let raw: number | undefined
    if (request.raw !== undefined) {
      const begin = performance.now()
      await database.sql.unsafe(request.raw)
      raw = performance.now() - begin
    }
    timed.push([
      `${request.caller}: ${request.name}`,
      quantile(latencies, 0.5).toFixed(1),
      `${p95.toFixed(1)}${p95 < (request.aimMs ?? P95_MS) ? ' ' : '!'}`,
      raw?.toFixed(1) ?? '',
      raw === undefined ? '' : `${(raw / p95).toFixed(1)}x`,
    ])
  }
  say(`\n${requests} requests each, one at a time; load average ${loadavg()[0]?.toFixed(1)}`)
  say(table([['', 'p50 ms', `p95 ms `, 'rows ms', 'rows/p95'], ...timed]))
  say(
    `aim: p95 under ${P95_MS} ms, of the overview 150, of a trace 300; "rows" is the same computed from the mail log by SQL, once\n`,
  )

  const target = runningEmbedded(dataDir)
  if (!target) throw new Error('the embedded PostgreSQL is not running')
  const config = readConfig({ DATA_DIR: dataDir })
  const { log, close } = serviceLog('bench', config)
  const core = await startCore({ config, log, target, listeners: [webhookQueue(config)] })
  const ingested = await measureIngestion(core, database.sql, folder, lines)
  await core.close()
  say(
    `ingestor: ${ingested.counting.toFixed(0)} rows/s with figures (aim: ${ROWS_A_SECOND}), ${ingested.bare.toFixed(0)} without: ${(ingested.counting / ingested.bare).toFixed(2)} of it`,
  )
  if (!ingested.isExact) fail('figures differ from the rows that were ingested')

  await seedSenders(database.sql)
  const inProcess = await measureDecisions(dataDir, target, log, decisions)
  const port = await startRedis(join(folder, 'redis'), 'everysec', started)
  const redisUrl = `redis://127.0.0.1:${port}`
  const shared = await measureDecisions(dataDir, target, log, Math.ceil(decisions / 4), redisUrl)
  const counted = await bareCounts(redisUrl, Math.ceil(decisions / 4))
  say(`rate limiter in process: ${inProcess.perSecond.toFixed(0)} decisions/s (aim: ${IN_PROCESS})`)
  say(
    `rate limiter in Redis: ${shared.perSecond.toFixed(0)} decisions/s (aim: ${THROUGH_REDIS}), ${(shared.perSecond / counted).toFixed(2)} of bare INCRs (${counted.toFixed(0)}/s)`,
  )
  if (!inProcess.isExact || !shared.isExact) fail('more or fewer messages passed than the limit')
  close()
  await database.close()
} finally {
  await stop()
}

/** Measures plain INCR commands per second from one process, the simplest counter in Redis. */
async function bareCounts(url: string, count: number): Promise<number> {
  const client = new Redis(url)
  let next = 0
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next < count) await client.incr(`bench:${next++ % 200}`)
    }),
  )
  const perSecond = count / ((performance.now() - begin) / 1000)
  client.disconnect()
  return perSecond
}
