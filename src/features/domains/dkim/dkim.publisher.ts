import { createPrivateKey } from 'node:crypto'
import type { Core } from '../../../core.ts'
import { namedMutex } from '../../../lib/mutex.ts'
import * as keys from './dkim.repository.ts'
import { DKIM_PURPOSE } from './dkim-key.ts'

type Needs = Pick<Core, 'db' | 'log' | 'signingKeys' | 'vault'>

/**
 * Copies the signing keys from the database to Rspamd. A step writes the full state of one domain,
 * so it can be repeated after an interruption.
 */
export function dkimPublisher({ db, log, signingKeys, vault }: Needs) {
  const oneAtATime = namedMutex()

  const publish = (domain: string) =>
    oneAtATime([domain], async () => {
      const rows = await keys.publishedOf(db, domain)
      const open = rows
        .map(({ selector, private_key, active }) => ({
          selector,
          active,
          privateKey: vault.open(DKIM_PURPOSE, private_key),
        }))
        .filter(({ privateKey }) => isUsable(privateKey))
      const signing = open.find(({ active }) => active)?.selector
      await signingKeys.publish(domain, open, signing)
    })

  return {
    /** Returns false when no Rspamd is configured or it cannot be reached. */
    async publish(domain: string): Promise<boolean> {
      if (!signingKeys.isConfigured) return false
      try {
        await publish(domain)
        return true
      } catch (error) {
        log.warn({ err: error, domain }, 'publishing signing keys failed')
        return false
      }
    },

    /** Publishes the domains of the database and removes the others; throws on the first failure. */
    async publishAll(): Promise<void> {
      if (!signingKeys.isConfigured) return
      const stored = await keys.domainsWithKeys(db)
      const published = await signingKeys.domains()
      for (const domain of new Set([...stored, ...published])) await publish(domain)
    },
  }
}

/** Rspamd logs a key that it cannot parse, private part included. */
function isUsable(privateKey: string): boolean {
  try {
    return createPrivateKey(privateKey).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
