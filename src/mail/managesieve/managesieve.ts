import type { Config } from '../../config/index.ts'
import type { Log } from '../../log.ts'
import type { CurrentMailServers } from '../mail-servers.ts'
import { ConnectionFailed, Refusal, SieveNotConfigured, SieveUnavailable } from './errors.ts'
import { commands, connect, logIn, type Session } from './session.ts'

type Settings = Pick<
  Config,
  | 'SIEVE_TIMEOUT'
  | 'SIEVE_TLS_VERIFY'
  | 'SIEVE_PROBE_TTL'
  | 'SIEVE_PROBE_TIMEOUT'
  | 'SIEVE_PROBE_ACCOUNT'
>

export interface ManageSieve {
  /** Runs `work` on the scripts of one mailbox in a new connection. */
  session<Result>(mailbox: string, work: (session: Session) => Promise<Result>): Promise<Result>
  /** Returns whether the last session or probe succeeded; probes again after `SIEVE_PROBE_TTL`. */
  isAvailable(): Promise<boolean>
}

interface Needs {
  config: Settings
  mailServers: CurrentMailServers
  now(): Date
  log: Pick<Log, 'warn'>
}

export function manageSieve({ config, mailServers, now, log }: Needs): ManageSieve {
  const server = () => {
    const { SIEVE_HOST, SIEVE_PORT, IMAP_HOST } = mailServers.current()
    const host = SIEVE_HOST ?? IMAP_HOST ?? 'dovecot'
    return { host, port: SIEVE_PORT, verify: config.SIEVE_TLS_VERIFY }
  }
  const master = () => {
    const { IMAP_MASTER_USER: user, IMAP_MASTER_PASSWORD: password } = mailServers.current()
    return user && password ? { user, password } : undefined
  }
  let lastResult: { works: boolean; until: number } | undefined
  let probing: Promise<boolean> | undefined

  const remember = (works: boolean): boolean => {
    lastResult = { works, until: now().getTime() + config.SIEVE_PROBE_TTL * 1000 }
    return works
  }

  async function probe(login: { user: string; password: string }): Promise<boolean> {
    const mailbox = config.SIEVE_PROBE_ACCOUNT
    const timeoutMs = config.SIEVE_PROBE_TIMEOUT * 1000
    try {
      const talk = await connect(server(), { commandMs: timeoutMs, totalMs: timeoutMs })
      if (mailbox !== undefined) await logIn(talk, { mailbox, ...login })
      talk.end()
      return remember(true)
    } catch {
      return remember(false)
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
          remember(true)
          return await work(commands(talk))
        } finally {
          talk.end()
        }
      } catch (error) {
        if (error instanceof ConnectionFailed) {
          remember(false)
          log.warn({ reason: error.message }, 'ManageSieve session failed')
          throw new SieveUnavailable()
        }
        // The server works but is busy: it stays available.
        if (error instanceof Refusal && error.code.startsWith('TRYLATER')) {
          throw new SieveUnavailable()
        }
        throw error
      }
    },

    async isAvailable() {
      const login = master()
      if (!login) return false
      if (lastResult && lastResult.until > now().getTime()) return lastResult.works
      probing ??= probe(login).finally(() => {
        probing = undefined
      })
      return probing
    },
  }
}
