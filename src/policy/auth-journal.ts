import type { MailService } from '../access/login-services.ts'
import type { Core } from '../core.ts'
import type { Tx } from '../database/database.ts'
import type { Senders } from '../features/rate-limiter/senders.ts'
import { type IpNews, ipNews } from '../features/reputation/ip-news.ts'
import * as reputation from '../features/reputation/ips.repository.ts'
import {
  AddressBlocked,
  BruteForce,
  LoginFailed,
  LoginSucceeded,
} from '../features/security/security.events.ts'
import { domainOf } from '../lib/mail-address.ts'
import { periodically } from '../lib/periodically.ts'
import { type Failed, storeBlock, storeFailures } from './auth.repository.ts'

const FLUSH_MS = 250
const BATCH = 500
const MAX_WAITING = 100_000
const COMPLAIN_MS = 30_000

export interface Report {
  user: string
  ip: string
  service: MailService
  success: boolean
  at: Date
}

export interface Block {
  user: string
  ip: string
  service: MailService
  type: 'ip' | 'user'
  failures: number
  until: number
  stored(): void
}

type Entry = { report: Report; block?: never } | { block: Block; report?: never }

interface Needs extends Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now'> {
  senders: Pick<Senders, 'find'>
}

/** Stores logins, blocks and their events a moment later, many at once, in the order they came. */
export function authJournal({ config, db, events, log, now, senders }: Needs) {
  const windowMs = config.AUTH_FAILURE_WINDOW_SECS * 1000
  let waiting: Entry[] = []
  let lost = 0
  let complainedAt = 0

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
    const since = new Date(until - seconds * 1000 - windowMs)
    await storeBlock(tx, ip, type === 'user' ? user : undefined, new Date(until), since)
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
    if (Date.now() - complainedAt < COMPLAIN_MS) return
    complainedAt = Date.now()
    log.error({ err: error }, 'logins could not be stored; they are kept and tried again')
  })

  return {
    add(entry: Entry): void {
      if (waiting.length < MAX_WAITING) waiting.push(entry)
      else if (lost++ === 0) log.error('the database is away for too long: logins are being lost')
    },
    flush: loop.now,
    stop: loop.stop,
  }
}

/** What logins say of the addresses that they came from. */
function newsOf(entries: Entry[]): IpNews[] {
  const news = ipNews()
  for (const { report } of entries) if (report) news.login(report.ip, report.success)
  return news.take()
}

/** One row per address, account and service, whatever came in since the last time. */
function sums(entries: Entry[]): Failed[] {
  const found = new Map<string, Failed>()
  for (const { report } of entries) {
    if (!report || report.success) continue
    const { ip, user, service, at } = report
    const name = `${service} ${ip} ${user}`
    const sum = found.get(name) ?? { ip, user, service, count: 0, at }
    found.set(name, { ...sum, count: sum.count + 1, at })
  }
  // Always in the same order, so that two processes cannot wait for each other's locks.
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, failed]) => failed)
}
