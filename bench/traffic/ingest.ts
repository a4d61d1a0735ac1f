import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Core } from '../../src/core.ts'
import { foldTraffic } from '../../src/features/analytics/analytics.jobs.ts'
import { startIngestor } from '../../src/features/mail-log/ingestor.ts'
import { writeLog } from '../edge/mail-log.ts'

const PATIENCE_MS = 600_000

export interface Ingested {
  rows: number
  counting: number
  bare: number
  isExact: boolean
}

/** Rows stored per second by the ingestor, with and without counting and folding. */
export async function measureIngestion(
  core: Core,
  sql: Sql,
  folder: string,
  lines: number,
): Promise<Ingested> {
  const { path, rows } = await prepareIngestion(sql, folder, lines)
  const ingest = (name: string) => ingestLog(core, { path, rows, name }, name === 'counting')
  await sql`alter table mail_log disable trigger mail_log_count`
  const bare = await ingest('bare')
  await sql`delete from mail_log where organization_id like 'I%'`
  await sql`alter table mail_log enable trigger mail_log_count`
  const counting = await ingest('counting')
  while (await foldTraffic.round(core)) {}
  const [sums] = await sql<{ stored: number; counted: number }[]>`
    select (select count(*) from mail_log where organization_id like 'I%') as stored,
      (select sum(sent)::bigint from mail_traffic_days where organization_id like 'I%') as counted`
  return { rows, counting, bare, isExact: sums?.stored === rows && sums.counted === rows }
}

/** Makes the tenants of a log and the log itself. */
export async function prepareIngestion(sql: Sql, folder: string, lines: number) {
  await sql`
    insert into organizations (id, name) select 'I' || n, 'Ingested ' || n
    from generate_series(0, 49) n`
  await sql`
    insert into domains (id, organization_id, domain, ownership_verified_at)
    select 'I' || n, 'I' || n, 'tenant' || n || '.example', now() from generate_series(0, 49) n`
  const path = join(folder, 'mail.log')
  const { lines: _, ...written } = writeLog(path, lines)
  return { path, rows: Object.values(written).reduce((sum, count) => sum + count, 0) }
}

/** Reads a log with that many rows; returns the rows a second. */
export async function ingestLog(
  core: Core,
  { path, rows, name }: { path: string; rows: number; name: string },
  isFolding: boolean,
): Promise<number> {
  let isDone = false
  const folding = (async () => {
    while (!isDone) {
      if (isFolding) await foldTraffic.round(core)
      await sleep(500)
    }
  })()
  const begin = performance.now()
  const config = { ...core.config, MAIL_LOG_NAME: name }
  const ingestor = startIngestor({ ...core, config }, path)
  while (ingestor.counts.rows < rows && performance.now() - begin < PATIENCE_MS) await sleep(20)
  const seconds = (performance.now() - begin) / 1000
  await ingestor.stop()
  isDone = true
  await folding
  return rows / seconds
}
