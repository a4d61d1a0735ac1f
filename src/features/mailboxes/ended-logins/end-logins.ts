import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { newLease } from '../../../jobs/lease.ts'
import { endSessions } from '../../../mail/end-sessions.ts'
import { forgetLogins } from '../../../mail/stale-logins.ts'
import * as ended from './ended-logins.repository.ts'

const AT_ONCE = 100
/** Longer than Dovecot takes to answer all requests of a round, or to be given up. */
const LEASE_SECONDS = 120
const MAX_WAIT_SECONDS = 60

/**
 * Ends the open sessions of mailboxes whose password changed, or that may not log in any more. Mail
 * programs connect again and get the answer of today.
 */
export const endLogins: Chore = {
  name: 'ended-logins',
  async round(core) {
    if (!core.doveadm.isConfigured) return false
    const lease = newLease(LEASE_SECONDS)
    const claimed = await ended.claim(core.db, lease, AT_ONCE)
    if (claimed.length === 0) return false
    const left = new Set(await end(core, claimed))
    for (const one of claimed) {
      if (left.has(one.login)) await ended.postpone(core.db, one, lease, MAX_WAIT_SECONDS)
      else await ended.finish(core.db, one, lease)
    }
    return left.size < claimed.length
  },
}

/** Returns the logins whose sessions may still be open. */
async function end(core: Core, claimed: readonly ended.EndedLogin[]): Promise<string[]> {
  const logins = claimed.map(({ login }) => login)
  // First, because a program that was cut off connects again at once.
  const isForgotten = await forget(core, logins)
  // One server may be away for long. Programs with the new password are not cut off at each attempt.
  const due = isForgotten ? claimed : claimed.filter(({ attempts }) => attempts === 0)
  const left = await endSessions(
    core.doveadm,
    due.map(({ login }) => login),
  )
  return isForgotten ? left : logins
}

async function forget({ authCache, db }: Core, logins: readonly string[]): Promise<boolean> {
  const addresses = logins.filter((login) => !isDomain(login))
  if (addresses.length > 0 && !(await authCache.flush(addresses))) return false
  for (const login of logins.filter(isDomain)) {
    if (!(await forgetLogins(db, authCache, { domainName: login.slice(2) }))) return false
  }
  return true
}

const isDomain = (login: string): boolean => login.startsWith('*@')
