import type { MailService } from '../access/login-services.ts'
import { noteAppPasswords, noteGrants } from '../access/mail-logins.repository.ts'
import type { Core } from '../core.ts'
import type { Tx } from '../database/database.ts'
import { type IpNews, ipNews } from '../hosting/ip-news.ts'
import * as reputation from '../hosting/ip-reputation.repository.ts'
import {
  AddressBlocked,
  BruteForce,
  LoginFailed,
  LoginSucceeded,
} from '../hosting/security.events.ts'
import type { Senders } from '../hosting/senders.ts'
import { throttleKey } from '../lib/ip.ts'
import { domainOf } from '../lib/mail-address.ts'
import { onceEvery } from '../lib/once-every.ts'
import { periodically } from '../lib/periodically.ts'
import {
  type Failed,
  noteLogins,
  storeAccountBlock,
  storeBlock,
  storeFailures,
} from './auth.repository.ts'

const FLUSH_MS = 250
const BATCH = 500
const MAX_WAITING = 100_000
const LOG_INTERVAL_MS = 30_000

export interface Report {
  user: string
  ip: string
  service: MailService
  success: boolean
  at: Date
  appPasswordId: string | undefined
  grantId: string | undefined
}

export interface Block {
  user: string
  ip: string
  service: MailService
  type: 'ip' | 'user' | 'account'
  failures: number
  until: number
  stored(): void
}

type Entry = { report: Report; block?: never } | { block: Block; report?: never }

interface Needs extends Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now'> {
  senders: Pick<Senders, 'find'>
}

/** Stores logins, blocks and their events in batches, in the order of their arrival. */
export function authJournal({ config, db, events, log, now, senders }: Needs) {
  const windowMs = config.AUTH_FAILURE_WINDOW_SECS * 1000
  let waiting: Entry[] = []
  let lost = 0
  const mayLog = onceEvery(LOG_INTERVAL_MS)

  async function aboutOf(user: string) {
    const sender = await senders.find(user, 'outbound')
    const domain = sender?.domain ?? (user.includes('@') ? domainOf(user) : null)
    return { org_id: sender?.organizationId ?? null, domain }
  }
  type About = Awaited<ReturnType<typeof aboutOf>>

  async function storeReport(tx: Tx, { user, ip, service, success }: Report, about: About) {
    const data = { user, ip_address: ip, protocol: service }
    await events.emit(tx, success ? LoginSucceeded : LoginFailed, about, data)
  }

  async function storeOneBlock(tx: Tx, block: Block, about: About) {
    const { user, ip, service, type, failures, until } = block
    const seconds = config.AUTH_BLOCK_DURATION_SECS
    const at = new Date(until - seconds * 1000)
    if (type === 'account') {
      await storeAccountBlock(tx, { user, failures, until: new Date(until), at })
    } else {
      const since = new Date(at.getTime() - windowMs)
      const blockedUser = type === 'user' ? user : undefined
      await storeBlock(tx, throttleKey(ip), blockedUser, new Date(until), since)
    }
    await events.emit(tx, BruteForce, about, {
      user,
      ip_address: ip,
      protocol: service,
      failure_count: failures,
      block_duration_secs: seconds,
      block_type: type,
    })
    if (type === 'ip') {
      const blocked = { ip_address: ip, domain: about.domain ?? '', rule_type: 'brute_force' }
      await events.emit(tx, AddressBlocked, about, blocked)
    }
  }

  async function flush(): Promise<void> {
    const entries = waiting.slice(0, BATCH)
    if (entries.length === 0) return
    const abouts = new Map<string, About>()
    for (const { report, block } of entries) {
      const user = (report ?? block).user
      if (!abouts.has(user)) abouts.set(user, await aboutOf(user))
    }
    await db.transaction().execute(async (tx) => {
      for (const failed of sums(entries)) await storeFailures(tx, failed, windowMs)
      for (const { report, block } of entries) {
        const about = abouts.get((report ?? block).user) as About
        if (report) await storeReport(tx, report, about)
        else await storeOneBlock(tx, block, about)
      }
      await noteLogins(tx, loginsIn(entries))
      await noteAppPasswords(tx, usesIn(entries, 'appPasswordId'))
      await noteGrants(tx, usesIn(entries, 'grantId'))
      await reputation.record(tx, newsOf(entries), now())
      for (const { block } of entries) {
        if (block?.type !== 'ip') continue
        const shown = { reason: 'Too many failed logins', until: new Date(block.until) }
        await reputation.showBlock(tx, block.ip, shown, now())
      }
    })
    waiting = waiting.slice(entries.length)
    for (const { block } of entries) block?.stored()
    lost = 0
    await flush()
  }

  const loop = periodically(FLUSH_MS, flush, (error) => {
    if (mayLog()) log.error({ err: error }, 'storing logins failed, will retry')
  })

  return {
    add(entry: Entry): void {
      if (waiting.length < MAX_WAITING) waiting.push(entry)
      else if (lost++ === 0)
        log.error('dropping logins: the journal is full and the database does not answer')
    },
    flush: loop.now,
    stop: loop.stop,
  }
}

/** The last login of each account. */
function loginsIn(entries: Entry[]): Map<string, Date> {
  const found = new Map<string, Date>()
  for (const { report } of entries) {
    if (report?.success) found.set(report.user, report.at)
  }
  return found
}

/** The last use of each app password or grant. */
function usesIn(entries: Entry[], name: 'appPasswordId' | 'grantId') {
  const found = new Map<string, { id: string; service: MailService; ip: string; at: Date }>()
  for (const { report } of entries) {
    const id = report?.success ? report[name] : undefined
    if (report && id) found.set(id, { id, service: report.service, ip: report.ip, at: report.at })
  }
  return [...found.values()]
}

/** The changes of IP reputation that these logins cause. */
function newsOf(entries: Entry[]): IpNews[] {
  const news = ipNews()
  for (const { report } of entries) if (report) news.login(report.ip, report.success)
  return news.take()
}

/** One row per IP address, account and service. */
function sums(entries: Entry[]): Failed[] {
  const found = new Map<string, Failed>()
  for (const { report } of entries) {
    if (!report || report.success) continue
    const { user, service, at } = report
    const ip = throttleKey(report.ip)
    const name = `${service} ${ip} ${user}`
    const sum = found.get(name) ?? { ip, user, service, count: 0, at }
    found.set(name, { ...sum, count: sum.count + 1, at })
  }
  // Sorted, so that two processes lock rows in one order and cannot deadlock.
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, failed]) => failed)
}
