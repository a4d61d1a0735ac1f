import { certificateAuthority } from '../features/ssl/acme/certificate-authority.ts'
import { obtainCertificates } from '../features/ssl/acme/obtain.ts'
import { orderRenewals } from '../features/ssl/acme/renewals.ts'
import { inventory } from '../features/ssl/inventory/inventory.ts'
import { runChores } from '../jobs/chores.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'

/** Keeps the list of certificates current, obtains those that were ordered, and renews in time. */
export const certManager: Daemon = {
  async start(core) {
    const stopping = new AbortController()
    const files = inventory(core)
    const ca = certificateAuthority(core.config)
    const chores = await runChores(core, [obtainCertificates(ca, stopping.signal)])
    const jobs = runJobs(core, [orderRenewals(core.config, files)])
    files
      .refresh()
      .catch((error) => core.log.warn({ err: error }, 'certificates could not be read'))
    return {
      features: [],
      async stop() {
        stopping.abort()
        await jobs.stop()
        await chores.stop()
      },
    }
  },
}
