import { statistics } from '../features/analytics/overview/index.ts'
import { pages } from '../features/pages/index.ts'
import type { Daemon } from './daemon.ts'

/**
 * Serves the web app, which calls the API from the browser like every other client, and statistics of
 * the caller's mail.
 */
export const dashboard: Daemon = {
  async start(core) {
    return { features: [pages(), statistics(core)], async stop() {} }
  },
}
