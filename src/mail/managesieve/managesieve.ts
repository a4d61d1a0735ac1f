import type { Config } from '../../config.ts'
import type { Log } from '../../log.ts'
import { ConnectionFailed, Refusal, SieveNotConfigured, SieveUnavailable } from './errors.ts'
import { commands, connect, logIn, type Session } from './session.ts'

type Settings = Pick<
  Config,
  | 'IMAP_HOST'
  | 'IMAP_MASTER_USER'
  | 'IMAP_MASTER_PASSWORD'
  | 'SIEVE_HOST'
  | 'SIEVE_PORT'
  | 'SIEVE_TIMEOUT'
  | 'SIEVE_TLS_VERIFY'
  | 'SIEVE_PROBE_TTL'
  | 'SIEVE_PROBE_TIMEOUT'
  | 'SIEVE_PROBE_ACCOUNT'
>

export interface ManageSieve {
  /** Acts on the scripts of one mailbox, in a connection of its own. */
  session<Result>(mailbox: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /** Whether a session would work, as far as is known; looked into once per `SIEVE_PROBE_TTL`. */
  isAvailable(): Promise<boolean>
}

interface Needs {
  now(): Date
  log: Pick<Log, 'warn'>
}

export function manageSieve(config: Settings, { now, log }: Needs): ManageSieve {
  const server = () => ({
    host: config.SIEVE_HOST ?? config.IMAP_HOST ?? 'dovecot',
    port: config.SIEVE_PORT,
    verify: config.SIEVE_TLS_VERIFY,
  })
  const master = () => {
    const { IMAP_MASTER_USER: user, IMAP_MASTER_PASSWORD: password } = config
    return user && password ? { user, password } : undefined
  }
  let known: { works: boolean; until: number } | undefined
  let probing: Promise<boolean> | undefined

  const learn = (works: boolean): boolean => {
    known = { works, until: now().getTime() + config.SIEVE_PROBE_TTL * 1000 }
    return works
  }

  async function probe(login: { user: string; password: string }): Promise<boolean> {
    const mailbox = config.SIEVE_PROBE_ACCOUNT
    const timeoutMs = config.SIEVE_PROBE_TIMEOUT * 1000
    try {
      const talk = await connect(server(), { commandMs: timeoutMs, totalMs: timeoutMs })
      if (mailbox !== undefined) await logIn(talk, { mailbox, ...login })
      talk.end()
      return learn(true)
    } catch {
      return learn(false)
    }
  }

  return {
    async session(mailbox, work) {
      const login = master()
      if (!login) throw new SieveNotConfigured()
      const commandMs = config.SIEVE_TIMEOUT * 1000
      try {
        const talk = await connect(server(), { commandMs })
        try {
          await logIn(talk, { mailbox, ...login })
          learn(true)
          return await work(commands(talk))
        } finally {
          talk.end()
        }
      } catch (error) {
        if (error instanceof ConnectionFailed) {
          learn(false)
          log.warn({ reason: error.message }, 'the filter service did not do as it should')
          throw new SieveUnavailable()
        }
        // The service is there, and has something else to do.
        if (error instanceof Refusal && error.code.startsWith('TRYLATER')) {
          throw new SieveUnavailable()
        }
        throw error
      }
    },

    async isAvailable() {
      const login = master()
      if (!login) return false
      if (known && known.until > now().getTime()) return known.works
      probing ??= probe(login).finally(() => {
        probing = undefined
      })
      return probing
    },
  }
}
