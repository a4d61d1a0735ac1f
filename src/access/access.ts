import type { Core } from '../core.ts'
import type { Feed } from '../database/listen.ts'
import { type BlockedAddresses, blockedAddresses } from './blocked-addresses.ts'
import { type BootstrapTokens, bootstrapTokens } from './bootstrap-tokens.ts'
import { type Identities, identities } from './identities.ts'
import { type Sessions, sessions } from './sessions.ts'
import { type Throttle, throttle } from './throttle.ts'
import { type TwoFactor, twoFactor } from './two-factor.ts'

/** Everything about who is calling, made once and handed to the guard and to the login features. */
export interface Access {
  identities: Identities
  blocked: BlockedAddresses
  throttle: Throttle
  sessions: Sessions
  twoFactor: TwoFactor
  bootstrap: BootstrapTokens
  /** To be awaited after revoking anything: this process then knows it too. */
  settled(): Promise<void>
  close(): Promise<void>
}

type Needs = Pick<Core, 'db' | 'now' | 'log' | 'config' | 'vault' | 'listen'>

export async function startAccess(needs: Needs): Promise<Access> {
  let feed: Feed | undefined
  const isFresh = () => feed?.connected === true
  const known = identities({ ...needs, isFresh })
  const blocked = blockedAddresses({ ...needs, isFresh })
  const bootstrap = bootstrapTokens(needs)
  const failed = (error: unknown) =>
    needs.log.warn({ err: error }, 'blocked addresses were not read')

  feed = await needs.listen('mailplane_access', {
    message(payload) {
      if (payload.startsWith('block:')) blocked.read(payload.slice('block:'.length)).catch(failed)
      else if (payload.startsWith('bootstrapped:')) {
        bootstrap.removeFile(payload === 'bootstrapped:operator' ? 'operator' : 'organization')
      } else known.evict(payload)
    },
    subscribed() {
      known.evictAll()
      blocked.readAll().catch(failed)
    },
  })

  return {
    identities: known,
    blocked,
    throttle: throttle(needs),
    sessions: sessions(needs),
    twoFactor: twoFactor(needs),
    bootstrap,
    settled: feed.settled,
    async close() {
      await known.close()
      await feed.close()
    },
  }
}
