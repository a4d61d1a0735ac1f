import { Counter, Gauge, Registry } from 'prom-client'
import type { Core } from '../core.ts'
import { internalRoutes } from '../features/archive/internal.routes.ts'
import { internalService } from '../features/archive/internal.service.ts'
import { archiveKeys } from '../features/archive/sealing/keys.ts'
import { sweepSpool } from '../features/archive/spool/sweep.ts'
import { openStorages } from '../features/archive/storage/storage.ts'
import * as spools from '../features/archive/store/spools.repository.ts'
import * as checks from '../features/archive/tasks/checks.repository.ts'
import { readBack } from '../features/archive/tasks/read-back.ts'
import { runArchiveJobs } from '../features/archive/tasks/run-jobs.ts'
import { deleteObjects } from '../features/archive/upload/delete-objects.ts'
import { type UploadCounts, uploadSpool } from '../features/archive/upload/upload.ts'
import { runChores } from '../jobs/chores.ts'
import { runJobs } from '../jobs/jobs.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import { periodically } from '../lib/periodically.ts'
import { HOUR_MS } from '../lib/time.ts'
import type { Daemon } from './daemon.ts'

/**
 * Uploads archived messages from the spool of this machine, deletes objects, imports existing mail and
 * reads the archive back. The stage of the content filter writes the spool.
 */
export const archiver: Daemon = {
  async start(core) {
    const storages = openStorages(core)
    if (storages.current !== undefined) await archiveKeys(core).verify()
    const stopping = new AbortController()
    const counts: UploadCounts = { uploaded: 0, failed: 0 }
    const upload = uploadSpool(core, storages, counts)
    const chores = await runChores(core, [
      upload,
      deleteObjects(core, storages),
      runArchiveJobs(storages, stopping.signal),
    ])
    const jobs = runJobs(core, [readBack(storages, stopping.signal)])
    const sweeping = periodically(
      HOUR_MS,
      async () => {
        if (storages.current !== undefined) await sweepSpool(core)
      },
      (error) => core.log.warn({ err: error }, 'sweeping the archive spool failed'),
    )
    void sweeping.now()
    const drain = async () => {
      while (await upload.round(core)) {}
    }
    const registry = archiverRegistry(core, counts)
    return {
      features: [{ prefix: '', routes: internalRoutes(internalService(core, drain)) }],
      metrics: () => registry.metrics(),
      async stop() {
        stopping.abort()
        await chores.stop()
        await jobs.stop()
        await sweeping.stop()
        storages.close()
      },
    }
  },
}

function archiverRegistry(core: Core, counts: UploadCounts): Registry {
  const registry = new Registry()
  scrapedCounter(
    {
      registry,
      name: 'archiver_uploads_total',
      help: 'Uploads of this process by outcome: uploaded or failed',
      label: 'outcome',
    },
    () => ({ ...counts }),
  )
  const figures = {
    spool_messages: 'Messages that wait for their upload, of all machines',
    spool_bytes: 'Bytes that wait for their upload, of all machines',
    spool_oldest_seconds: 'Age of the oldest message that waits for its upload',
    check_checked: 'Messages that the last check of the archive read back',
    check_damaged: 'Damaged or missing messages that the last check of the archive found',
    check_age_seconds: 'Time since the last complete check of the archive',
  }
  const gauges = Object.entries(figures).map(
    ([name, help]) => [name, new Gauge({ name: `archiver_${name}`, help, registers: [] })] as const,
  )
  for (const [, gauge] of gauges) registry.registerMetric(gauge)
  const failures = new Counter({
    name: 'archiver_archive_store_failures_total',
    help: 'Messages that could not be archived, of all machines',
    registers: [registry],
  })
  const metrics = registry.metrics.bind(registry)
  registry.metrics = async () => {
    const { failures: failed, ...values } = await readFigures(core)
    failures.reset()
    failures.inc(failed)
    for (const [name, gauge] of gauges) {
      const value = values[name as keyof typeof values]
      if (value === undefined) gauge.remove()
      else gauge.set(value)
    }
    return metrics()
  }
  return registry
}

async function readFigures({ db, now }: Core) {
  const all = await spools.list(db)
  const last = await checks.latest(db)
  const sum = (pick: (spool: spools.SpoolStatus) => number) =>
    all.reduce((total, spool) => total + pick(spool), 0)
  const ageOf = (at: string) => Math.max(0, (now().getTime() - new Date(at).getTime()) / 1000)
  const oldest = all.flatMap(({ oldest_at }) => (oldest_at === null ? [] : [ageOf(oldest_at)]))
  return {
    failures: sum(({ failures }) => failures),
    spool_messages: sum(({ messages }) => messages),
    spool_bytes: sum(({ bytes }) => bytes),
    spool_oldest_seconds: Math.max(0, ...oldest),
    check_checked: last?.checked,
    check_damaged: last?.damaged,
    check_age_seconds: last?.finished_at ? ageOf(last.finished_at) : undefined,
  }
}
