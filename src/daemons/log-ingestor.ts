import { Registry } from 'prom-client'
import { type Ingestor, startIngestor } from '../features/mail-log/ingestor.ts'
import { makeLogDays } from '../features/mail-log/mail-log.days.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Reads the log of the mail server. A private edge, and its log, may start after this process. */
export const logIngestor: Daemon = {
  async start(core) {
    let path: string | undefined
    let ingestor: Ingestor | undefined
    let rows = 0
    async function follow(): Promise<void> {
      const { MAIL_LOG_FILE: newPath } = core.mailServers.current()
      if (newPath === path) return
      path = newPath
      await ingestor?.stop()
      rows += ingestor?.counts.rows ?? 0
      ingestor = newPath === undefined ? undefined : startIngestor(core, newPath)
    }
    // A backup may be reading the log. Rows are stored without it, and the API makes the days later.
    await makeLogDays(core).catch((error) =>
      core.log.warn({ err: error }, 'days of the mail log not made'),
    )
    await follow()
    let following = Promise.resolve()
    const removeListener = core.mailServers.onChange(() => {
      following = following
        .then(follow)
        .catch((error) => core.log.warn({ err: error }, 'the mail log could not be followed'))
    })
    const registry = new Registry()
    scrapedCounter(
      { registry, name: 'log_ingestor_rows_total', help: 'Rows that this process has stored' },
      () => rows + (ingestor?.counts.rows ?? 0),
    )
    return {
      features: [],
      metrics: () => registry.metrics(),
      async stop() {
        removeListener()
        await following
        await ingestor?.stop()
      },
    }
  },
}
