import { checkDnsHook } from '../features/ssl/acme/dns-hook.ts'
import { inventory } from '../features/ssl/inventory/inventory.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

/** Maintains the list of certificates, obtains ordered ones and renews them before they expire. */
export const certManager: Daemon = {
  async start(core) {
    checkDnsHook(core.config)
    const work = await runFeatureWork(core, 'cert_manager')
    inventory(core)
      .refresh()
      .catch((error) => core.log.warn({ err: error }, 'reading certificates failed'))
    return { features: [], stop: work.stop }
  },
}
