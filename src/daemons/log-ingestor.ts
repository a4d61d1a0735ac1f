import { startIngestor } from '../features/mail-log/ingestor.ts'
import type { Daemon } from './daemon.ts'

/** Reads the log of the mail server. Without one, there is nothing for it to do. */
export const logIngestor: Daemon = {
  name: 'log_ingestor',
  port: 8087,
  async start(core) {
    const path = core.config.MAIL_LOG_FILE
    const ingestor = path === undefined ? undefined : startIngestor(core, path)
    return {
      features: [],
      metrics: () =>
        [
          '# TYPE log_ingestor_rows_total counter',
          `log_ingestor_rows_total ${ingestor?.counts.rows ?? 0}`,
        ].join('\n'),
      stop: async () => ingestor?.stop(),
    }
  },
}
