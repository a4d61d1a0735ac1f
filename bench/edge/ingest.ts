import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { startIngestor } from '../../src/features/mail-log/ingestor.ts'
import { webhookQueue } from '../../src/features/webhooks/delivery/enqueue.ts'
import { serviceLog } from '../../src/log.ts'
import { aim, median, table } from '../report.ts'
import { type Written, writeLog } from './mail-log.ts'

const LINES = 1_000_000
const ROUNDS = 3
const TIMES_PFLOGSUMM = 1.2

type Totals = Omit<Written, 'lines'>

/** Log lines per second stored in PostgreSQL, compared with `pflogsumm`, which only counts them. */
export async function benchIngest(options: { lines?: number } = {}): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-ingest-'))
  try {
    const path = join(folder, 'mail.log')
    const { lines, ...expected } = writeLog(path, options.lines ?? LINES)
    const seconds: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] }
    let isEqual = true
    // In rotation, so that other load on the machine affects both equally.
    for (let round = 0; round < ROUNDS; round++) {
      const theirs = await pflogsumm(path)
      const ours = await ingest(path, join(folder, `data-${round}`), expected)
      seconds.theirs.push(theirs.seconds)
      seconds.ours.push(ours.seconds)
      for (const [name, logged] of Object.entries(expected) as [keyof Totals, number][]) {
        const counted = [ours.totals[name], theirs.totals[name]]
        if (counted.every((total) => total === logged)) continue
        isEqual = false
        say(
          `${name}: ${logged} in the log, ${counted[0]} stored, ${counted[1]} counted by pflogsumm`,
        )
      }
    }
    const rate = (values: number[]) => lines / median(values)
    const ratio = rate(seconds.ours) / rate(seconds.theirs)
    say(`\nmail log of ${lines} lines, median of ${ROUNDS} rounds`)
    say(
      table([
        ['', 'lines/s', 'seconds'],
        ...(['ours', 'theirs'] as const).map((who) => [
          who === 'ours' ? 'log ingestor, into PostgreSQL' : 'pflogsumm',
          String(Math.round(rate(seconds[who]))),
          median(seconds[who]).toFixed(1),
        ]),
      ]),
    )
    say(`${ratio.toFixed(2)} times pflogsumm; totals ${isEqual ? 'equal' : 'DIFFER'}`)
    say(aim(`at least ${TIMES_PFLOGSUMM} times pflogsumm`, ratio >= TIMES_PFLOGSUMM))
    return isEqual
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const say = (text: string) => process.stdout.write(`${text}\n`)

async function ingest(path: string, dataDir: string, expected: Totals) {
  prepareDataDir(dataDir)
  const server = await startEmbedded(dataDir, say)
  const database = openDatabase(server.target, { pool: 2, name: 'bench' })
  try {
    await migrate(database.sql)
    const config = readConfig({ DATA_DIR: dataDir, MAIL_LOG_NAME: 'bench' })
    const { log, close } = serviceLog('log_ingestor', config)
    const core = await startCore({
      config,
      log,
      target: server.target,
      listeners: [webhookQueue(config)],
    })
    await database.sql`
      insert into organizations (id, name) select 'org-' || n, 'Org ' || n from generate_series(0, 49) n`
    await database.sql`
      insert into domains (id, domain, organization_id, ownership_verified_at)
      select 'domain-' || n, 'tenant' || n || '.example', 'org-' || n, now() from generate_series(0, 49) n`
    await database.sql`
      insert into smtp_credentials (id, organization_id, domain_id, username, secret_hash)
      select 'login-' || n, 'org-' || n % 50, 'domain-' || n % 50, 'login-' || n, 'none'
      from generate_series(0, 199) n`
    const all = Object.values(expected).reduce((sum, count) => sum + count, 0)
    const begin = performance.now()
    const ingestor = startIngestor(core, path)
    while (ingestor.counts.rows < all && performance.now() - begin < 600_000) await sleep(20)
    const seconds = (performance.now() - begin) / 1000
    await ingestor.stop()
    const rows = await database.sql<{ status: string; count: number }[]>`
      select status, count(*) from mail_log group by status`
    const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0
    await core.close()
    close()
    const totals: Totals = {
      delivered: of('delivered'),
      deferrals: of('deferred'),
      bounced: of('bounced'),
      rejected: of('rejected'),
    }
    return { seconds, totals }
  } finally {
    await database.close()
    await server.stop()
  }
}

async function pflogsumm(path: string): Promise<{ seconds: number; totals: Totals }> {
  if (spawnSync('pflogsumm', ['--help']).error) {
    throw new Error('pflogsumm is missing: apt-get install pflogsumm')
  }
  const begin = performance.now()
  const child = spawn('pflogsumm', [path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let report = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    report += text
  })
  await new Promise((resolve) => child.once('close', resolve))
  const seconds = (performance.now() - begin) / 1000
  const total = (name: string) => {
    const match = new RegExp(`^ *(\\d+)([km]?) +${name}`, 'm').exec(report)
    return match ? Number(match[1]) * ({ k: 1024, m: 1048576 }[match[2] as 'k'] ?? 1) : 0
  }
  const deferrals = Number(/\((\d+) +deferrals\)/.exec(report)?.[1] ?? 0)
  const totals = {
    delivered: total('delivered'),
    deferrals,
    bounced: total('bounced'),
    rejected: total('rejected'),
  }
  return { seconds, totals }
}
