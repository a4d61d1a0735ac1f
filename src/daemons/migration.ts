import { startEngine } from '../features/migration/copy/engine.ts'
import { deliverNotices } from '../features/migration/notices/deliver.ts'
import type { Daemon } from './daemon.ts'

/** Copies mailboxes. Several may run: they share the jobs, and take over those of one that dies. */
export const migration: Daemon = {
  async start(core) {
    // What is not offered is not run either.
    if (core.config.SVC_EDITION !== 'enterprise') return { features: [], stop: async () => {} }
    const engine = await startEngine(core)
    const notices = deliverNotices(core)
    return {
      features: [],
      metrics: () =>
        [
          '# TYPE migration_jobs_running gauge',
          `migration_jobs_running ${engine.running()}`,
          '# TYPE migration_jobs_run_total counter',
          `migration_jobs_run_total ${engine.counts.ended}`,
        ].join('\n'),
      async stop() {
        await engine.stop()
        await notices.stop()
      },
    }
  },
}
