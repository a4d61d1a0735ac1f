import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import type { Target } from '../../src/database/database.ts'
import { dropDays } from '../../src/database/days.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { mailLog } from '../../src/features/mail-log/mail-log.days.ts'
import { webhookQueue } from '../../src/features/webhooks/delivery/enqueue.ts'
import { DAY_MS } from '../../src/lib/time.ts'
import { serviceLog } from '../../src/log.ts'
import type { Row } from '../parts.ts'
import { type Started, stopAll } from '../servers.ts'
import { type Case, casesOf } from '../traffic/cases.ts'
import { ingestLog, prepareIngestion } from '../traffic/ingest.ts'
import { startTrafficInstallation } from '../traffic/installation.ts'
import { quantile, timeRoute } from '../traffic/timing.ts'

const option = (name: string, fallback: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
const ROWS = option('rows', 10_000_000)
const LINES = option('lines', 500_000)
const REQUESTS = option('requests', 20)
const DAYS = 60
const ROUNDS = 2
const P95_MS = 200

/** Traces that no index of a column finds. */
const searches: Case[] = [
  { path: 'subject=no+such+subject', name: 'trace by a subject without a match' },
  { path: 'subject=order+4711+is', name: 'trace by a subject' },
].map(({ path, name }) => {
  const caller = 'operator'
  return { name, caller, path: `/api/v1/message-trace/trace?${path}`, aimMs: 300 }
})

/** A mail log in days: searches and figures, dropping a day, and ingestion beside a plain table. */
export default async function measure(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-partitions-'))
  const started: Started[] = []
  try {
    const dataDir = join(folder, 'data')
    const installation = await startTrafficInstallation(dataDir, ROWS, DAYS, started)
    const { server, callers, database } = installation
    const target = runningEmbedded(dataDir)
    if (!target) throw new Error('the embedded PostgreSQL is not running')
    const report: Row[] = [{ what: 'rows, in days', value: `${ROWS} in ${DAYS}` }]
    for (const request of [...casesOf(DAYS), ...searches]) {
      const latencies = await timeRoute(server.url, request, callers[request.caller], REQUESTS)
      const value = `p95 ${quantile(latencies, 0.95).toFixed(1)} ms`
      report.push({ what: request.name, value, aim: `${request.aimMs ?? P95_MS} ms` })
    }
    // The oldest day that is complete.
    const before = new Date(Date.now() - (DAYS - 2) * DAY_MS)
    const begin = performance.now()
    const dropped = await dropDays(database.db, mailLog, { before })
    const seconds = (performance.now() - begin) / 1000 / dropped.days
    report.push({ what: 'dropping a day', value: `${seconds.toFixed(3)} s`, aim: 'under 1 s' })

    const rates = await compareIngestion(dataDir, target, database.sql, folder)
    report.push(
      { what: 'ingestion into a plain table', value: `${rates.plain.toFixed(0)} rows/s` },
      {
        what: 'ingestion into days',
        value: `${rates.days.toFixed(0)} rows/s, ${(rates.days / rates.plain).toFixed(2)} of it`,
        aim: 'at least 0.9',
      },
    )
    await database.close()
    return report
  } finally {
    await stopAll(started)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Reads the same log into the days and into a plain copy of the table with its indexes, in turns. */
async function compareIngestion(dataDir: string, target: Target, sql: Sql, folder: string) {
  await makePlainCopy(sql)
  const written = await prepareIngestion(sql, folder, LINES)
  const rates = { days: 0, plain: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['days', 'plain'] as const) {
      if (kind === 'plain') await exchange(sql)
      // A core of its own: prepared statements would still go to the other table.
      const config = readConfig({ DATA_DIR: dataDir })
      const { log, close } = serviceLog('bench', config)
      const core = await startCore({ config, log, target, listeners: [webhookQueue(config)] })
      const rate = await ingestLog(core, { ...written, name: `${kind} ${round}` }, true)
      rates[kind] = Math.max(rates[kind], rate)
      await core.close()
      close()
      await sql`delete from mail_log where organization_id like 'I%' or organization_id is null`
      if (kind === 'plain') await exchange(sql)
    }
  }
  return rates
}

/** The table as it was before it was divided, with the same rows. */
const makePlainCopy = (sql: Sql) =>
  sql.unsafe(`
    create table mail_log_plain (like mail_log including defaults including constraints);
    insert into mail_log_plain select * from mail_log;
    alter table mail_log_plain add primary key (id);
    create index on mail_log_plain (credential_id, "timestamp", status)
      where credential_id is not null;
    create index on mail_log_plain (recipient, "timestamp");
    create index on mail_log_plain ("timestamp");
    create index on mail_log_plain (organization_id, "timestamp");
    create index on mail_log_plain (message_id) where message_id is not null;
    create index on mail_log_plain (sender, "timestamp");
    create index on mail_log_plain (lower(sasl_username), "timestamp")
      where sasl_username is not null;
    create index on mail_log_plain (original_recipient, "timestamp")
      where original_recipient is not null;
    create trigger mail_log_count after insert on mail_log_plain
      referencing new table as added for each statement execute function count_mail_traffic();
    analyze mail_log_plain;`)

const exchange = (sql: Sql) =>
  sql.unsafe(`
    alter table mail_log rename to mail_log_other;
    alter table mail_log_plain rename to mail_log;
    alter table mail_log_other rename to mail_log_plain;`)
