import { isIP } from 'node:net'
import { MAIL_SERVICES, type MailService } from '../access/login-services.ts'
import { MAX_TOKEN_FAILURES_PER_IP } from '../access/token-failures.ts'
import { MAX_AUTH_DELAY_SECS } from '../config/rate-limits.ts'
import type { Core } from '../core.ts'
import { MASTER_USER } from '../edge/settings-of.ts'
import type { Login } from '../hosting/senders.repository.ts'
import type { Sender, Senders } from '../hosting/senders.ts'
import { refusedByRules } from '../lib/address-rules.ts'
import { failures } from '../lib/failures.ts'
import { type Networks, normalizeIp, parseNetworks, throttleKey } from '../lib/ip.ts'
import { onceEvery } from '../lib/once-every.ts'
import { DAY_MS, MINUTE_MS } from '../lib/time.ts'
import { recentFailures } from './auth.repository.ts'
import { authJournal, type Block } from './auth-journal.ts'
import { startBlocks } from './blocks.ts'
import { type CountedLogin, sharedLogins } from './shared-logins.ts'

const MAX_LOGIN = 255
const KNOWN_MS = 30 * DAY_MS
/** Dovecot reaches the database soon after its return, but a login that began before may wait a minute. */
const OUTAGE_MS = 90_000
const LOG_INTERVAL_MS = 30_000

/** Status 0 allows, -1 refuses, a positive number delays by that many seconds. The client sees `msg`. */
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
  /** The master user that logs in as `login`, also into inactive mailboxes. */
  master: string | undefined
  /** True if the password was right; undefined if the mail server does not report it. */
  isMatched: boolean | undefined
  /** The app password that was used; undefined for another one. */
  appPasswordId: string | undefined
  /** The OAuth grant whose token was used. */
  grantId: string | undefined
  /** True if the password was right, but the mailbox has a second factor, so the login is refused. */
  needsCode: boolean
  /** True if the client sent a token instead of a password. */
  isToken: boolean
}

interface Needs
  extends Pick<
    Core,
    'config' | 'db' | 'events' | 'listen' | 'log' | 'mailServers' | 'now' | 'redis'
  > {
  senders: Pick<Senders, 'find'>
}

/** A limit of failures that was reached, and by how many. */
interface Reached {
  type: Block['type']
  failures: number
}

export type AuthPolicy = Awaited<ReturnType<typeof startAuthPolicy>>

/**
 * Dovecot asks before each login and reports after it, also for passwords in its cache. Failures are
 * counted per IP address (per /64 of IPv6), and per account and IP address together. Failures of an
 * account from all IP addresses block it only where it has not logged in before, so that an attacker
 * cannot lock its owner out.
 */
export async function startAuthPolicy(needs: Needs) {
  const { config, db, log, mailServers, now, senders } = needs
  const mayLog = onceEvery(LOG_INTERVAL_MS)
  const windowMs = config.AUTH_FAILURE_WINDOW_SECS * 1000
  const exempt = parseNetworks(config.AUTH_POLICY_EXEMPT) as Networks
  const byAddress = failures(windowMs)
  const byAccount = failures(windowMs)
  /** Recent successful logins: they are not delayed because of other failures. */
  const proven = failures(windowMs)
  const byUser = failures(windowMs)
  const tokensByAddress = failures(windowMs)
  /** IP addresses from which an account has logged in. */
  const known = failures(KNOWN_MS)
  const journal = authJournal(needs)
  const blocks = await startBlocks({
    ...needs,
    lifted(ip) {
      byAddress.clear(ip)
      byAccount.clearAll(`${ip} `)
    },
    liftedAccount: (user) => byUser.clear(user),
  })
  for (const row of await recentFailures(db, new Date(now().getTime() - windowMs))) {
    const at = Date.parse(row.last_attempt_at)
    byAddress.add(row.client_ip, at, row.attempt_count)
    byAccount.add(`${row.client_ip} ${row.username}`, at, row.attempt_count)
    byUser.add(row.username ?? '', at, row.attempt_count)
  }
  const shared = sharedLogins(needs.redis, count)
  const tidy = setInterval(() => {
    const at = now().getTime()
    for (const kept of [byAddress, byAccount, byUser, proven, known, tokensByAddress]) {
      kept.prune(at)
    }
  }, MINUTE_MS)
  tidy.unref()

  function delay(ip: string, user: string, isToken = false): Answer {
    if (isToken) return ALLOWED
    const at = now().getTime()
    const network = throttleKey(ip)
    const account = `${network} ${user}`
    if (exempt.contains(ip) || proven.count(account, at) > 0) return ALLOWED
    const count = Math.max(byAddress.count(network, at), byAccount.count(account, at))
    if (count === 0 || config.AUTH_DELAY_SECS === 0) return ALLOWED
    const seconds = config.AUTH_DELAY_SECS * 2 ** Math.min(count - 1, 10)
    return { status: Math.min(seconds, MAX_AUTH_DELAY_SECS), msg: '' }
  }

  function judge(sender: Sender | undefined, { ip, user, service, isToken }: Read): Answer {
    // Submission checks the IP rules for each recipient, where the client gets the reason.
    const byRule =
      sender && ip !== '' && BOUND_BY_RULES.has(service)
        ? refusedByRules(sender.addressRules, ip)
        : undefined
    if (byRule) return refused(byRule.text)
    const problem = sender?.login && loginProblem(sender.login, ip, now())
    return problem ? refused(problem) : delay(ip, user, isToken)
  }

  /** Checks the login itself too, because Dovecot may have cached an expired credential. */
  function unblocked(attempt: Read): Answer | Promise<Answer> {
    const sender = senders.find(attempt.user, 'outbound')
    if (!(sender instanceof Promise)) return judge(sender, attempt)
    return sender.then(
      (found) => judge(found, attempt),
      () => delay(attempt.ip, attempt.user, attempt.isToken),
    )
  }

  function block(
    report: { ip: string; user: string; service: MailService },
    { type, failures: reached }: Reached,
  ) {
    const until = now().getTime() + config.AUTH_BLOCK_DURATION_SECS * 1000
    const { ip, user } = report
    const { stored } =
      type === 'account'
        ? blocks.closeAccount(user, until)
        : blocks.close(throttleKey(ip), type === 'user' ? user : undefined, until)
    journal.add({ block: { ...report, type, failures: reached, until, stored } })
  }

  /** A block of the IP address, of the account from there, or of the account elsewhere. */
  function isBlocked(ip: string, user: string): boolean | Promise<boolean> {
    const network = throttleKey(ip)
    const here = blocks.isBlocked(network, user)
    const isExempt = exempt.contains(ip) || known.count(`${network} ${user}`, now().getTime()) > 0
    if (isExempt) return here
    const everywhere = blocks.isAccountBlocked(user)
    if (!(here instanceof Promise) && !(everywhere instanceof Promise)) return here || everywhere
    return Promise.all([here, everywhere]).then(([one, other]) => one || other)
  }

  const hasTooManyTokens = (ip: string) =>
    !exempt.contains(ip) &&
    tokensByAddress.count(throttleKey(ip), now().getTime()) >= MAX_TOKEN_FAILURES_PER_IP

  /**
   * Returns true for a failure that says nothing about the password: it was right, but the client did
   * not wait any longer, or the database was away a moment ago.
   */
  async function isOutage(attempt: Attempt): Promise<boolean> {
    if (attempt.isMatched === undefined || attempt.master !== undefined) return false
    if (attempt.isMatched) return true
    if (blocks.connectedFor() > OUTAGE_MS) return false
    const { user, service } = read(attempt)
    try {
      const login = (await senders.find(user, 'outbound'))?.login
      // An SMTP credential does not exist for the other services.
      return login !== undefined && (login.kind === 'mailbox' || service === 'smtp')
    } catch {
      return true
    }
  }

  /** Counts a login of this process or of another one, and returns the limits that it reached. */
  function count({ ip, user, outcome }: CountedLogin): Reached[] {
    const at = now().getTime()
    const network = throttleKey(ip)
    const account = `${network} ${user}`
    if (outcome === 'invalid_token') {
      tokensByAddress.add(network, at)
      return []
    }
    if (outcome === 'success') {
      byAccount.clear(account)
      proven.add(account, at)
      known.clear(account)
      known.add(account, at)
      return []
    }
    proven.clear(account)
    const ofAccount = byAccount.add(account, at)
    const ofAddress = byAddress.add(network, at)
    if (ip === '' || exempt.contains(ip)) return []
    const reached: Reached[] = []
    if (ofAddress >= config.MAX_AUTH_FAILURES_PER_IP) {
      byAddress.clear(network)
      reached.push({ type: 'ip', failures: ofAddress })
    } else if (ofAccount >= config.MAX_AUTH_FAILURES_PER_USER) {
      byAccount.clear(account)
      reached.push({ type: 'user', failures: ofAccount })
    }
    const ofUser = byUser.add(user, at)
    if (ofUser >= config.MAX_AUTH_FAILURES_PER_ACCOUNT) {
      byUser.clear(user)
      reached.push({ type: 'account', failures: ofUser })
    }
    return reached
  }

  /** Another process that hears of it counts it too; only this one blocks and stores. */
  function countOwn(login: CountedLogin): Reached[] {
    shared.tell(login)
    return count(login)
  }

  function record(attempt: Attempt, success: boolean) {
    const { ip, user, service } = read(attempt)
    const { appPasswordId, grantId } = attempt
    journal.add({ report: { user, ip, service, success, at: now(), appPasswordId, grantId } })
    const outcome = success ? 'success' : 'failure'
    for (const limit of countOwn({ ip, user, outcome })) block({ ip, user, service }, limit)
  }

  return {
    allow(attempt: Attempt): Answer | Promise<Answer> {
      const { ip, user, service, isToken } = read(attempt)
      // The control plane shares its IP address with other clients, such as a webmail on this host.
      // Its password is a random key that cannot be guessed.
      if (attempt.master === (mailServers.current().IMAP_MASTER_USER ?? MASTER_USER)) return ALLOWED
      const unblockedAnswer = () =>
        attempt.master === undefined ? unblocked({ ip, user, service, isToken }) : delay(ip, user)
      if (ip === '') return unblockedAnswer()
      if (attempt.isToken && hasTooManyTokens(ip)) {
        return refused('too many tokens that are not valid, try again later')
      }
      const found = isBlocked(ip, user)
      const decide = (closed: boolean) =>
        closed ? refused('too many failed logins, try again later') : unblockedAnswer()
      return found instanceof Promise ? found.then(decide) : decide(found)
    },

    async report(
      attempt: Attempt,
      { success, policyReject }: { success: boolean; policyReject: boolean },
    ) {
      // This policy refused the attempt, so the password was not checked.
      if (policyReject) return
      // A program that keeps trying the right password is told to use another one, and is no guesser.
      if (attempt.needsCode) return
      // A token that has expired or was revoked is no guess at a password.
      if (!success && attempt.isToken) {
        const { ip, user } = read(attempt)
        countOwn({ ip, user, outcome: 'invalid_token' })
        return
      }
      // Filters, exports and erasure logged in, not the holder of the mailbox.
      if (success && attempt.master !== undefined) return
      if (!success && (await isOutage(attempt))) {
        if (mayLog()) log.warn('a login failed because Dovecot did not reach the database')
        return
      }
      record(attempt, success)
    },

    flush: journal.flush,
    async stop() {
      clearInterval(tidy)
      shared.stop()
      await journal.stop()
      await blocks.stop()
    },
  }
}

type Read = ReturnType<typeof read>

/** Services whose logins obey the IP rules of the organization. */
const BOUND_BY_RULES: ReadonlySet<MailService> = new Set<MailService>(['imap', 'pop3', 'sieve'])

const read = ({ isToken, login, remote, protocol }: Attempt) => ({
  isToken,
  user: login.trim().toLowerCase().replaceAll('\0', '').slice(0, MAX_LOGIN).toWellFormed(),
  ip: isIP(remote) ? normalizeIp(remote) : '',
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
