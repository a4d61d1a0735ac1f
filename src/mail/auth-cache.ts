import type { Log } from '../log.ts'
import type { Doveadm } from './doveadm.ts'

const TRIES = 2
const TIMEOUT_SECONDS = 5
// Limits the size of one request: a domain may have very many mailboxes.
const NAMES_AT_ONCE = 500

/** Removes logins from Dovecot's cache, which would otherwise keep them for an hour after a change. */
export interface AuthCache {
  /**
   * Returns false when Dovecot is not configured or did not confirm. Never throws, because the
   * change itself is already committed.
   */
  flush(usernames: readonly string[]): Promise<boolean>
}

export function authCache(
  dovecot: Doveadm,
  log: Pick<Log, 'warn'>,
  timeoutSeconds = TIMEOUT_SECONDS,
): AuthCache {
  async function flushSome(usernames: readonly string[]): Promise<boolean> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      try {
        if (await flushOnce(dovecot, usernames, timeoutSeconds)) return true
        log.warn({ attempt }, 'login cache not flushed: the mail server refused')
      } catch (error) {
        log.warn({ err: error, attempt }, 'login cache not flushed: the request failed')
      }
    }
    return false
  }

  return {
    async flush(usernames) {
      // Dovecot's worker crashes on the command without names.
      if (!dovecot.isConfigured || usernames.length === 0) return false
      for (let at = 0; at < usernames.length; at += NAMES_AT_ONCE) {
        if (!(await flushSome(usernames.slice(at, at + NAMES_AT_ONCE)))) return false
      }
      return true
    },
  }
}

/** Remembers what Dovecot has not confirmed, and flushes it with the next call. */
export function persistentCache(
  cache: AuthCache,
  dovecot: Pick<Doveadm, 'isConfigured'>,
): AuthCache {
  const unconfirmed = new Set<string>()
  return {
    async flush(usernames) {
      if (!dovecot.isConfigured) return false
      const names = [...new Set([...unconfirmed, ...usernames])]
      if (names.length === 0) return true
      // A name that another call adds meanwhile stays.
      unconfirmed.clear()
      if (await cache.flush(names)) return true
      for (const name of names) unconfirmed.add(name)
      return false
    },
  }
}

async function flushOnce(dovecot: Doveadm, user: readonly string[], seconds: number) {
  const [answer] = await dovecot.run([['authCacheFlush', { user }]], seconds)
  return answer?.rows !== undefined
}
