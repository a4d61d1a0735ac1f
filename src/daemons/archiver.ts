import { archiveMetrics } from '../features/archive/archive.metrics.ts'
import { internalRoutes } from '../features/archive/internal.routes.ts'
import { internalService } from '../features/archive/internal.service.ts'
import { tryKeys } from '../features/archive/sealing/try-keys.ts'
import { sweepSpool } from '../features/archive/spool/sweep.ts'
import { openStorages } from '../features/archive/storage/storage.ts'
import { readBack } from '../features/archive/tasks/read-back.ts'
import { runArchiveJobs } from '../features/archive/tasks/run-jobs.ts'
import { deleteObjects } from '../features/archive/upload/delete-objects.ts'
import { type UploadCounts, uploadSpool } from '../features/archive/upload/upload.ts'
import { runChores } from '../jobs/chores.ts'
import { runJobs } from '../jobs/jobs.ts'
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
    await tryKeys(core, storages)
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
    return {
      features: [{ prefix: '', routes: internalRoutes(internalService(core, drain)) }],
      metrics: () => archiveMetrics(core, counts),
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
