import { type Ingestor, startIngestor } from '../features/mail-log/ingestor.ts'
import { periodically } from '../lib/periodically.ts'
import type { Daemon } from './daemon.ts'

const LOOK_MS = 1000

/** Reads the log of the mail server, as soon as there is one: an edge may be started after us. */
export const logIngestor: Daemon = {
  async start(core) {
    let path: string | undefined
    let ingestor: Ingestor | undefined
    let rows = 0
    async function follow(wanted: string | undefined): Promise<void> {
      if (wanted === path) return
      path = wanted
      await ingestor?.stop()
      rows += ingestor?.counts.rows ?? 0
      ingestor = wanted === undefined ? undefined : startIngestor(core, wanted)
    }
    await follow(core.config.MAIL_LOG_FILE)
    const looking = periodically(
      LOOK_MS,
      () => follow(core.config.MAIL_LOG_FILE),
      (error) => core.log.warn({ err: error }, 'the mail log could not be followed'),
    )
    return {
      features: [],
      metrics: () =>
        [
          '# TYPE log_ingestor_rows_total counter',
          `log_ingestor_rows_total ${rows + (ingestor?.counts.rows ?? 0)}`,
        ].join('\n'),
      async stop() {
        await looking.stop()
        await ingestor?.stop()
      },
    }
  },
}
