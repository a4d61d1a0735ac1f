import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

/** Reads and indexes mail. The API answers searches itself. */
export const rag: Daemon = {
  async start(core) {
    const work = await runFeatureWork(core, 'rag')
    return { features: [], stop: work.stop }
  },
}
