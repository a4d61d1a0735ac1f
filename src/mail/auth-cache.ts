import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import { type Doveadm, doveadm } from './doveadm.ts'

const TRIES = 2
const TIMEOUT_SECONDS = 5
// A domain may have very many mailboxes; a request should stay small.
const NAMES_AT_ONCE = 500

/** Dovecot remembers logins for an hour; after a change it is told to forget them. */
export interface AuthCache {
  /**
   * True once Dovecot has forgotten these logins; false when it could not be told, or there is no
   * Dovecot. Never throws: the change itself is already made.
   */
  flush(usernames: readonly string[]): Promise<boolean>
}

export function authCache(
  config: Pick<Config, 'DOVEADM_URL' | 'DOVEADM_API_KEY'>,
  log: Pick<Log, 'warn'>,
  timeoutSeconds = TIMEOUT_SECONDS,
): AuthCache {
  const dovecot = doveadm(config)

  async function flushSome(usernames: readonly string[]): Promise<boolean> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      try {
        if (await flushOnce(dovecot, usernames, timeoutSeconds)) return true
        log.warn({ attempt }, 'the mail server refused to flush the login cache')
      } catch (error) {
        log.warn({ err: error, attempt }, 'the login cache could not be flushed')
      }
    }
    return false
  }

  return {
    async flush(usernames) {
      // Without names the command would end Dovecot's worker.
      if (!dovecot.isConfigured || usernames.length === 0) return false
      for (let at = 0; at < usernames.length; at += NAMES_AT_ONCE) {
        if (!(await flushSome(usernames.slice(at, at + NAMES_AT_ONCE)))) return false
      }
      return true
    },
  }
}

async function flushOnce(dovecot: Doveadm, user: readonly string[], seconds: number) {
  const [answer] = await dovecot.run([['authCacheFlush', { user }]], seconds)
  return answer?.rows !== undefined
}
