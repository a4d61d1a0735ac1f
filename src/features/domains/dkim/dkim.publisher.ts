import { createPrivateKey } from 'node:crypto'
import type { Core } from '../../../core.ts'
import { namedMutex } from '../../../lib/mutex.ts'
import * as keys from './dkim.repository.ts'
import { DKIM_PURPOSE } from './dkim-key.ts'

type Needs = Pick<Core, 'db' | 'log' | 'signingKeys' | 'vault'>

export type DkimPublisher = ReturnType<typeof dkimPublisher>

/**
 * Keeps what Rspamd signs with in step with the database. Each step says what holds for one domain,
 * so it may be repeated, or cut off and done again.
 */
export function dkimPublisher({ db, log, signingKeys, vault }: Needs) {
  const inTurn = namedMutex()

  const publish = (domain: string) =>
    inTurn([domain], async () => {
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
    /** True once Rspamd has the keys of this domain; false when there is none, or it cannot be told. */
    async publish(domain: string): Promise<boolean> {
      if (!signingKeys.isConfigured) return false
      try {
        await publish(domain)
        return true
      } catch (error) {
        log.warn({ err: error, domain }, 'signing keys could not be published')
        return false
      }
    },

    /** Everything there is in either place; throws when something could not be told. */
    async publishAll(): Promise<void> {
      if (!signingKeys.isConfigured) return
      const here = await keys.domainsWithKeys(db)
      const there = await signingKeys.domains()
      for (const domain of new Set([...here, ...there])) await publish(domain)
    },
  }
}

/** Rspamd writes what it cannot read into its log, the private part included. */
function isUsable(privateKey: string): boolean {
  try {
    return createPrivateKey(privateKey).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
