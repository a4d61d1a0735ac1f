import { Registry } from 'prom-client'
import { manifestOf } from '../features/capabilities/manifest.ts'
import { sharedServices } from '../features/services.ts'
import { cleanupService } from '../features/storage/cleanup/cleanup.service.ts'
import { historyService } from '../features/storage/history/history.service.ts'
import { storageManagerRoutes } from '../features/storage/internal.routes.ts'
import { storageService } from '../features/storage/storage.service.ts'
import { type StorageManager, storageManager } from '../features/storage/storage-manager.ts'
import { sharedValue } from '../lib/cache.ts'
import { scrapedGauge } from '../lib/metrics.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'
import { restartsOf } from './restarts.ts'

const KEPT = { freshMs: 30_000, staleMs: 10 * MINUTE_MS }
const PATIENCE_MS = 5000

/** Follows what mailboxes use, emits alerts and reports, and keeps the history. Several may run. */
export const storage: Daemon = {
  async start(core) {
    const services = sharedServices(core, {
      restarts: restartsOf(core),
      manifest: () => manifestOf(core.config.SVC_EDITION, []),
    })
    const service = storageService({ ...core, ...services })
    const cleanup = cleanupService({ ...core, storage: service })
    const histories = historyService(core)
    const manager = storageManager({ ...core, service, histories })
    const stats = sharedValue(() => manager.stats(), KEPT)
    const work = await runFeatureWork(core, 'storage')
    return {
      features: [{ prefix: '', routes: storageManagerRoutes(manager, cleanup) }],
      metrics: async () => gauges(await stats(PATIENCE_MS)),
      stop: work.stop,
    }
  },
}

function gauges(stats: Awaited<ReturnType<StorageManager['stats']>>): Promise<string> {
  const registry = new Registry()
  scrapedGauge(
    {
      registry,
      name: 'storage_used_bytes',
      help: 'Stored data of all tenants, by type; attachments are a part of mailbox',
      label: 'storage_type',
    },
    () => stats.used_bytes,
  )
  scrapedGauge(
    {
      registry,
      name: 'storage_mailboxes_over',
      help: 'Mailboxes over a level of their quota: warning, critical, or exceeded',
      label: 'level',
    },
    () => stats.mailboxes_over,
  )
  scrapedGauge(
    {
      registry,
      name: 'storage_pending_age_seconds',
      help: 'Age of the oldest change of usage that was not taken over yet',
    },
    () => stats.pending_age_seconds,
  )
  return registry.metrics()
}
