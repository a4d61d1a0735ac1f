import { isIP } from 'node:net'
import { MAIL_SERVICES, type MailService } from '../access/login-services.ts'
import type { Core } from '../core.ts'
import type { Login } from '../features/rate-limiter/senders.repository.ts'
import type { Senders } from '../features/rate-limiter/senders.ts'
import { type Networks, parseNetworks, plainAddress } from '../lib/cidr.ts'
import { recentFailures } from './auth.repository.ts'
import { authJournal } from './auth-journal.ts'
import { startBlocks } from './blocks.ts'
import { failures } from './failures.ts'

const MAX_DELAY_SECS = 60
const MAX_LOGIN = 255
const MINUTE_MS = 60_000

/** 0 lets in, -1 refuses, more makes them wait so many seconds. `msg` reaches the client. */
export interface Answer {
  status: number
  msg: string
}

const ALLOWED: Answer = { status: 0, msg: '' }
const refused = (msg: string): Answer => ({ status: -1, msg })

export interface Attempt {
  login: string
  remote: string
  protocol: string
}

interface Needs extends Pick<Core, 'config' | 'db' | 'events' | 'listen' | 'log' | 'now'> {
  senders: Pick<Senders, 'find'>
}

export type AuthPolicy = Awaited<ReturnType<typeof startAuthPolicy>>

/**
 * Dovecot asks before each login and reports after it, also when it has the password in its cache.
 * Failures are counted per address, and per account from one address: nobody can lock out somebody
 * else's mailbox from afar.
 */
export async function startAuthPolicy(needs: Needs) {
  const { config, db, now, senders } = needs
  const windowMs = config.AUTH_FAILURE_WINDOW_SECS * 1000
  const exempt = parseNetworks(config.AUTH_POLICY_EXEMPT) as Networks
  const byAddress = failures(windowMs)
  const byAccount = failures(windowMs)
  /** Who has just shown the password does not wait for the failures of others. */
  const proven = failures(windowMs)
  const journal = authJournal(needs)
  const blocks = await startBlocks({
    ...needs,
    lifted(ip) {
      byAddress.clear(ip)
      byAccount.clearAll(`${ip} `)
    },
  })
  for (const row of await recentFailures(db, new Date(now().getTime() - windowMs))) {
    const at = Date.parse(row.last_attempt_at)
    byAddress.add(row.client_ip, at, row.attempt_count)
    byAccount.add(`${row.client_ip} ${row.username}`, at, row.attempt_count)
  }
  const tidy = setInterval(() => {
    const at = now().getTime()
    for (const kept of [byAddress, byAccount, proven]) kept.prune(at)
    blocks.prune()
  }, MINUTE_MS)
  tidy.unref()

  function delay(ip: string, user: string): Answer {
    const at = now().getTime()
    const account = `${ip} ${user}`
    if (exempt.contains(ip) || proven.count(account, at) > 0) return ALLOWED
    const count = Math.max(byAddress.count(ip, at), byAccount.count(account, at))
    if (count === 0 || config.AUTH_DELAY_SECS === 0) return ALLOWED
    const seconds = config.AUTH_DELAY_SECS * 2 ** Math.min(count - 1, 10)
    return { status: Math.min(seconds, MAX_DELAY_SECS), msg: '' }
  }

  function judge(login: Login | undefined, ip: string, user: string): Answer {
    const problem = login && loginProblem(login, ip, now())
    return problem ? refused(problem) : delay(ip, user)
  }

  /** A cached login outlives the credential's expiry; it is asked about here all the same. */
  function unblocked(ip: string, user: string): Answer | Promise<Answer> {
    const sender = senders.find(user, 'outbound')
    if (!(sender instanceof Promise)) return judge(sender?.login, ip, user)
    return sender.then(
      (found) => judge(found?.login, ip, user),
      () => delay(ip, user),
    )
  }

  function block(
    report: { ip: string; user: string; service: MailService },
    type: 'ip' | 'user',
    count: number,
  ) {
    const until = now().getTime() + config.AUTH_BLOCK_DURATION_SECS * 1000
    const { ip, user } = report
    const { stored } = blocks.close(ip, type === 'user' ? user : undefined, until)
    journal.add({ block: { ...report, type, failures: count, until, stored } })
  }

  return {
    allow(attempt: Attempt): Answer | Promise<Answer> {
      const { ip, user } = read(attempt)
      if (ip === '') return unblocked(ip, user)
      const isBlocked = blocks.isBlocked(ip, user)
      const decide = (closed: boolean) =>
        closed ? refused('too many failed logins, try again later') : unblocked(ip, user)
      return isBlocked instanceof Promise ? isBlocked.then(decide) : decide(isBlocked)
    },

    report(
      attempt: Attempt,
      { success, policyReject }: { success: boolean; policyReject: boolean },
    ) {
      // What was refused here proves nothing about the password.
      if (policyReject) return
      const { ip, user, service } = read(attempt)
      const at = now()
      const account = `${ip} ${user}`
      journal.add({ report: { user, ip, service, success, at } })
      if (success) {
        byAccount.clear(account)
        proven.add(account, at.getTime())
        return
      }
      proven.clear(account)
      const ofAccount = byAccount.add(account, at.getTime())
      const ofAddress = byAddress.add(ip, at.getTime())
      if (ip === '' || exempt.contains(ip)) return
      const report = { ip, user, service }
      if (ofAddress >= config.MAX_AUTH_FAILURES_PER_IP) {
        byAddress.clear(ip)
        block(report, 'ip', ofAddress)
      } else if (ofAccount >= config.MAX_AUTH_FAILURES_PER_USER) {
        byAccount.clear(account)
        block(report, 'user', ofAccount)
      }
    },

    flush: journal.flush,
    async stop() {
      clearInterval(tidy)
      await journal.stop()
      await blocks.stop()
    },
  }
}

const read = ({ login, remote, protocol }: Attempt) => ({
  user: login.trim().toLowerCase().replaceAll('\0', '').slice(0, MAX_LOGIN).toWellFormed(),
  ip: isIP(remote) ? plainAddress(remote) : '',
  service: MAIL_SERVICES.find((one) => one === serviceNames[protocol]) ?? 'other',
})

const serviceNames: Record<string, string> = {
  ...Object.fromEntries(MAIL_SERVICES.map((name) => [name, name])),
  submission: 'smtp',
  managesieve: 'sieve',
}

function loginProblem(login: Login, ip: string, now: Date): string | undefined {
  if (!login.active) return 'this login is not active'
  if (login.expires_at !== null && Date.parse(login.expires_at) <= now.getTime()) {
    return 'this login has expired'
  }
  if (login.ip_allowlist_enabled && !parseNetworks(login.allowed_ips)?.contains(ip)) {
    return 'this login is not allowed from your address'
  }
  return undefined
}
