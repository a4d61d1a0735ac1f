import { Registry } from 'prom-client'
import { counts } from '../features/encryption/counts.ts'
import { encryptionFeatures } from '../features/encryption/index.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Publishes OpenPGP keys of mailboxes, and encrypts, decrypts, signs and verifies for other services. */
export const encryption: Daemon = {
  async start(core) {
    const lookups = { found: 0, missing: 0 }
    const registry = new Registry()
    scrapedCounter(
      {
        registry,
        name: 'encryption_wkd_lookups_total',
        help: 'Requests for keys in the Web Key Directory, by outcome: found or missing',
        label: 'outcome',
      },
      () => ({ ...lookups }),
    )
    scrapedCounter(
      {
        registry,
        name: 'encryption_operations_total',
        help: 'Texts that this process has encrypted, decrypted, signed or verified',
        label: 'operation',
      },
      () => ({ ...counts }),
    )
    const { features, close } = encryptionFeatures(core, lookups)
    return { features, metrics: () => registry.metrics(), stop: close }
  },
}
