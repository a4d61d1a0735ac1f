import { pages } from '../features/pages/index.ts'
import type { Daemon } from './daemon.ts'

/** Serves the web app. It calls the API from the browser, like every other client. */
export const dashboard: Daemon = {
  async start() {
    return { features: [pages()], async stop() {} }
  },
}
