import { Gauge, Registry } from 'prom-client'
import type { Core } from '../../core.ts'
import { damagedMessages, overdueDeletions } from '../../hosting/archive-figures.repository.ts'
import { scrapedCounter } from '../../lib/metrics.ts'
import * as spools from './store/spools.repository.ts'
import * as checks from './tasks/checks.repository.ts'
import type { UploadCounts } from './upload/upload.ts'

const GAUGES = {
  archive_spool_depth: 'Messages that wait for their upload, of all machines',
  spool_messages: 'Messages that wait for their upload, of all machines',
  spool_bytes: 'Bytes that wait for their upload, of all machines',
  spool_oldest_seconds: 'Age of the oldest message that waits for its upload',
  deletions_overdue: 'Objects of deleted messages that could not be deleted for 2 hours',
  check_checked: 'Messages that the last complete check of the archive read back',
  check_damaged: 'Damaged or missing messages that the last check of the archive found',
  check_age_seconds: 'Time since the last complete check of the archive',
}

/** The metrics of the archiver in text form. All but the uploads are those of all machines. */
export async function archiveMetrics(core: Core, uploads: UploadCounts): Promise<string> {
  const { taken, failures, ...figures } = await readFigures(core)
  const registry = new Registry()
  scrapedCounter(
    {
      registry,
      name: 'archiver_archive_messages_total',
      help: 'Messages that each place has taken: every message the spool, then its storage',
      label: 'storage',
    },
    () => taken,
  )
  scrapedCounter(
    {
      registry,
      name: 'archiver_archive_store_failures_total',
      help: 'Messages that could not be archived, of all machines',
    },
    () => failures,
  )
  scrapedCounter(
    {
      registry,
      name: 'archiver_uploads_total',
      help: 'Uploads of this process by outcome: uploaded or failed',
      label: 'outcome',
    },
    () => ({ ...uploads }),
  )
  for (const [name, help] of Object.entries(GAUGES)) {
    const value = figures[name as keyof typeof GAUGES]
    const gauge = new Gauge({ name: `archiver_${name}`, help, registers: [registry] })
    // Without a check there is nothing to show, and 0 would be good news.
    if (value === null) gauge.remove()
    else gauge.set(value)
  }
  return registry.metrics()
}

async function readFigures({ db, now }: Core) {
  const [all, taken, last, damaged, overdue] = await Promise.all([
    spools.list(db),
    spools.taken(db),
    checks.lastFinished(db),
    damagedMessages(db),
    overdueDeletions(db, now()),
  ])
  const sum = (pick: (spool: spools.SpoolStatus) => number) =>
    all.reduce((total, spool) => total + pick(spool), 0)
  const ageOf = (at: string) => Math.max(0, (now().getTime() - new Date(at).getTime()) / 1000)
  const oldest = all.flatMap(({ oldest_at }) => (oldest_at === null ? [] : [ageOf(oldest_at)]))
  const messages = sum(({ messages }) => messages)
  return {
    taken,
    failures: sum(({ failures }) => failures),
    archive_spool_depth: messages,
    spool_messages: messages,
    spool_bytes: sum(({ bytes }) => bytes),
    spool_oldest_seconds: Math.max(0, ...oldest),
    deletions_overdue: overdue,
    check_checked: last?.checked ?? null,
    check_damaged: damaged,
    check_age_seconds: last ? ageOf(last.finished_at) : null,
  }
}
