import type { Core } from '../core.ts'
import type { Feed } from '../database/listen.ts'
import { type AccountLinks, accountLinks } from './account-links.ts'
import { type BlockedAddresses, blockedAddresses } from './blocked-addresses.ts'
import { type BootstrapTokens, bootstrapTokens } from './bootstrap-tokens.ts'
import { type Identities, identities } from './identities.ts'
import { type MailLogins, mailLogins } from './mail-logins.ts'
import { type Sessions, sessions } from './sessions.ts'
import { ACCOUNT_BLOCK } from './throttle.repository.ts'
import { type Throttle, throttle } from './throttle.ts'
import { type TwoFactor, twoFactor } from './two-factor.ts'

/** Authentication and authorization, built once for the guard and the login features. */
export interface Access {
  identities: Identities
  blocked: BlockedAddresses
  mailLogins: MailLogins
  throttle: Throttle
  sessions: Sessions
  twoFactor: TwoFactor
  links: AccountLinks
  bootstrap: BootstrapTokens
  /** Await after a revocation: afterwards this process has evicted it too. */
  settled(): Promise<void>
  close(): Promise<void>
}

type Needs = Pick<Core, 'db' | 'now' | 'log' | 'config' | 'vault' | 'listen' | 'passwords'>

export async function startAccess(needs: Needs): Promise<Access> {
  let feed: Feed | undefined
  const isFresh = () => feed?.connected === true
  const known = identities({ ...needs, isFresh })
  const blocked = blockedAddresses({ ...needs, isFresh })
  const bootstrap = bootstrapTokens(needs)
  const throttling = throttle(needs)
  const programs = mailLogins({ ...needs, throttle: throttling, isFresh })

  feed = await needs.listen('mailplane_access', {
    message(payload) {
      if (payload.startsWith('block:')) blocked.evict(payload.slice('block:'.length))
      else if (payload.startsWith(ACCOUNT_BLOCK)) return
      else if (payload.startsWith('bootstrapped:')) {
        bootstrap.removeFile(payload === 'bootstrapped:operator' ? 'operator' : 'organization')
      } else {
        known.evict(payload)
        programs.evict(payload)
      }
    },
    subscribed() {
      known.evictAll()
      programs.evictAll()
      blocked.evictAll()
    },
  })

  return {
    identities: known,
    blocked,
    mailLogins: programs,
    throttle: throttling,
    sessions: sessions(needs),
    twoFactor: twoFactor(needs),
    links: accountLinks(needs),
    bootstrap,
    settled: feed.settled,
    async close() {
      await known.close()
      await feed.close()
    },
  }
}
