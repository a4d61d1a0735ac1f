import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import { type Command, doveadm } from './doveadm.ts'

const TRIES = 2
const TIMEOUT_SECONDS = 5
const BATCH = 500

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
  return {
    async flush(usernames) {
      // Without names the command would end Dovecot's worker.
      if (!dovecot.isConfigured || usernames.length === 0) return false
      const commands = batches(usernames).map((user): Command => ['authCacheFlush', { user }])
      for (let attempt = 1; attempt <= TRIES; attempt++) {
        try {
          const outcomes = await dovecot.run(commands, timeoutSeconds * 1000)
          if (outcomes.every((outcome) => 'rows' in outcome)) return true
          log.warn({ attempt }, 'the mail server refused to flush the login cache')
        } catch (error) {
          log.warn({ err: error, attempt }, 'the login cache could not be flushed')
        }
      }
      return false
    },
  }
}

/** A tenant may have more logins than one command takes. */
function batches(usernames: readonly string[]): string[][] {
  const count = Math.ceil(usernames.length / BATCH)
  return Array.from({ length: count }, (_, n) => usernames.slice(n * BATCH, (n + 1) * BATCH))
}
