import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { isOrganization } from '../../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { isIpAddress, normalizeIp } from '../../../lib/ip.ts'
import { hasSeveralSenders } from './hosted.repository.ts'
import { DEFAULT_LIMITS, type IspLimit, limitFor } from './isp-limits.ts'
import { destinationOf, limitOf, storeLimit } from './limit-changes.ts'
import * as limits from './limits.repository.ts'
import { emitThrottled, overLimit, overStep } from './obstacles.ts'
import {
  LimitNotFound,
  NoSuchOrganization,
  NotADomain,
  NotAnAddress,
  NothingToChange,
} from './optimizer.errors.ts'
import { counts } from './paced-mail.repository.ts'
import * as warming from './warming.repository.ts'

const DESTINATIONS = 100

export interface Question {
  recipient_domain: string
  organization_id: string
  sender_ip?: string | null
}

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now'>

export type PacingService = ReturnType<typeof pacingService>

/** Decides whether mail to a destination may go now, within the limits of its provider. */
export function pacingService({ change, config, db, events, now }: Needs) {
  /** The reason not to send now, and until when. */
  async function obstacle({ domain, ip, counts, limit }: Considered) {
    const byLimit = overLimit(domain, counts, limit, now())
    if (byLimit || ip === undefined) return byLimit
    const schedule = await warming.find(db, ip)
    return schedule && overStep(db, schedule, domain, now())
  }

  async function enforcement() {
    const isOn = config.DELIVERY_OPTIMIZER_ENABLED
    const isInOneQueue = !(await hasSeveralSenders(db))
    return {
      enforced: isOn && isInOneQueue,
      note: isInOneQueue ? (isOn ? null : NOT_ENFORCED) : SEVERAL_SENDERS,
    }
  }

  return {
    async check(question: Question) {
      const { organization_id } = question
      const domain = domainOf(question)
      const ip = addressOf(question)
      if (!(await isOrganization(db, organization_id))) throw new NoSuchOrganization()
      const limit = await limitOf(db, domain)
      const sent = await limits.sent(db, organization_id, domain, now())
      const figures = {
        recipient_domain: domain,
        hourly_count: sent.hour,
        hourly_limit: limit.hourly_limit,
        daily_count: sent.day,
        daily_limit: limit.daily_limit,
        max_concurrent: limit.max_concurrent,
      }
      const refused = await obstacle({ domain, ip, counts: sent, limit })
      if (!refused) {
        // The burst of a minute goes out at once; further messages are delayed.
        const delay_ms = sent.minute >= limit.burst_limit ? limit.delay_ms : 0
        return { send_now: true, ...(delay_ms > 0 && { delay_ms }), ...figures }
      }
      await db
        .transaction()
        .execute((tx) =>
          emitThrottled({ events, now }, tx, organization_id, domain, refused.reason),
        )
      const { reason, schedule_for } = refused
      return { send_now: false, reason, schedule_for, ...figures }
    },

    async record(question: Question) {
      const domain = domainOf(question)
      const ip = addressOf(question)
      await db.transaction().execute(async (tx) => {
        if (!(await limits.count(tx, question.organization_id, domain, now()))) {
          throw new NoSuchOrganization()
        }
        if (ip !== undefined) await warming.countSend(tx, ip, now())
      })
      return { status: 'recorded' as const }
    },

    async limits() {
      const stored = await limits.limitsOf(db)
      const own = stored.map(({ domain, ...limit }) => [domain, limit] as const)
      return { ...DEFAULT_LIMITS, ...Object.fromEntries(own) } as Record<string, IspLimit>
    },

    /** For operators: every limit, and how many messages wait for it. */
    async list(page: Page) {
      const stored = await limits.limitsOf(db)
      const names = new Set(stored.map(({ domain }) => domain))
      const builtIn = Object.keys(DEFAULT_LIMITS).filter((domain) => !names.has(domain))
      const all = [...names, ...builtIn].sort()
      const waiting = await waitingByDomain(db)
      const items = all.slice(page.offset, page.offset + page.perPage).map((domain) => ({
        domain,
        ...limitFor(domain, stored),
        is_built_in: !names.has(domain),
        waiting: waiting.get(domain) ?? 0,
      }))
      return { ...paginated(items, all.length, page), ...(await enforcement()) }
    },

    /** Changes the given fields only. */
    setLimit: (sent: string, changes: Partial<IspLimit>) =>
      db.transaction().execute((tx) => storeLimit(tx, sent, changes, now())),

    async changeLimit(caller: Caller, sent: string, changes: Partial<IspLimit>) {
      if (Object.keys(changes).length === 0) throw new NothingToChange()
      const stored = await change(caller, (tx) => storeLimit(tx, sent, changes, now()))
      const waiting = (await waitingByDomain(db)).get(stored.domain) ?? 0
      return { ...stored, is_built_in: false, waiting, ...(await enforcement()) }
    },

    /** The built-in limit applies again. */
    removeLimit: (caller: Caller, sent: string) =>
      change(caller, async (tx) => {
        const domain = destinationOf(sent)
        if (!(await limits.removeLimit(tx, domain))) throw new LimitNotFound()
        return { domain }
      }),

    async stats(organizationId: string) {
      if (!(await isOrganization(db, organizationId))) throw new NoSuchOrganization()
      const [{ hour, day }, domains] = await Promise.all([
        limits.totals(db, organizationId, now()),
        limits.destinations(db, organizationId, DESTINATIONS, now()),
      ])
      return {
        organization_id: organizationId,
        total_hourly_sends: hour,
        total_daily_sends: day,
        domains,
      }
    },
  }
}

/** Limits act on mail only where the installation paces it. */
const NOT_ENFORCED = 'Set DELIVERY_OPTIMIZER_ENABLED=true to apply limits to outgoing mail'
const SEVERAL_SENDERS =
  'Outgoing mail is not paced while several mail hosts have the role submission or outbound'

async function waitingByDomain(db: Db): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const { recipient_domain, reason, state, total } of await counts(db)) {
    if (state !== 'waiting' || reason === 'warm_up') continue
    found.set(recipient_domain, (found.get(recipient_domain) ?? 0) + total)
  }
  return found
}

interface Considered {
  domain: string
  ip: string | undefined
  counts: limits.Sent
  limit: IspLimit
}

function domainOf({ recipient_domain }: Question): string {
  const domain = toDomainName(recipient_domain)
  if (domain === undefined) throw new NotADomain('recipient_domain')
  return domain
}

function addressOf({ sender_ip }: Question): string | undefined {
  if (sender_ip === undefined || sender_ip === null) return undefined
  if (!isIpAddress(sender_ip)) throw new NotAnAddress('sender_ip')
  return normalizeIp(sender_ip)
}
