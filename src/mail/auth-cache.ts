import type { Config } from '../config.ts'
import type { Log } from '../log.ts'

const TRIES = 2
const TIMEOUT_SECONDS = 5

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
  return {
    async flush(usernames) {
      // Read now: a private edge may have come up since the start.
      const { DOVEADM_URL: url, DOVEADM_API_KEY: key = '' } = config
      // Without names the command would end Dovecot's worker.
      if (url === undefined || usernames.length === 0) return false
      for (let attempt = 1; attempt <= TRIES; attempt++) {
        try {
          const signal = AbortSignal.timeout(timeoutSeconds * 1000)
          if (await flushOnce(url, key, usernames, signal)) return true
          log.warn({ attempt }, 'the mail server refused to flush the login cache')
        } catch (error) {
          log.warn({ err: error, attempt }, 'the login cache could not be flushed')
        }
      }
      return false
    },
  }
}

async function flushOnce(
  url: string,
  key: string,
  usernames: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const response = await fetch(new URL('/doveadm/v1', url), {
    method: 'POST',
    headers: {
      authorization: `X-Dovecot-API ${Buffer.from(key).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify([['authCacheFlush', { user: usernames }, 'flush']]),
    signal,
    redirect: 'error',
  })
  const answers = (await response.json()) as [string][]
  return response.ok && answers[0]?.[0] === 'doveadmResponse'
}
