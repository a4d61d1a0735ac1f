import { isIP } from 'node:net'
import type { Core } from '../../../core.ts'
import { plainAddress } from '../../../lib/cidr.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { isOrganization } from '../../tracking/tracked.repository.ts'
import { DomainThrottled } from '../reputation.events.ts'
import { DEFAULT_LIMITS, type IspLimit, OTHERS } from './isp-limits.ts'
import * as limits from './limits.repository.ts'
import { NoSuchOrganization, NotADomain, NotAnAddress } from './optimizer.errors.ts'
import { stageOf } from './warm-up.ts'
import * as warming from './warming.repository.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const DESTINATIONS = 100

export interface Question {
  recipient_domain: string
  organization_id: string
  sender_ip?: string | null
}

type Needs = Pick<Core, 'db' | 'events' | 'now'>

export type PacingService = ReturnType<typeof pacingService>

/** Whether mail to a destination may go now, so that nobody there takes offence. */
export function pacingService({ db, events, now }: Needs) {
  async function limitOf(domain: string): Promise<IspLimit> {
    const stored = await limits.limitsOf(db, [domain, OTHERS])
    const own = (name: string) => stored.find((limit) => limit.domain === name)
    const { domain: _name, ...limit } = {
      domain,
      ...((own(domain) ??
        DEFAULT_LIMITS[domain] ??
        own(OTHERS) ??
        DEFAULT_LIMITS[OTHERS]) as IspLimit),
    }
    return limit
  }

  /** What speaks against sending now, and until when. */
  async function obstacle({ domain, ip, counts, limit }: Considered) {
    const at = now().getTime()
    const next = (ms: number) => new Date((Math.floor(at / ms) + 1) * ms).toISOString()
    if (counts.hour >= limit.hourly_limit) {
      const reason = `hourly limit of ${limit.hourly_limit} reached for ${domain}`
      return { reason, schedule_for: next(HOUR_MS) }
    }
    if (counts.day >= limit.daily_limit) {
      const reason = `daily limit of ${limit.daily_limit} reached for ${domain}`
      return { reason, schedule_for: next(DAY_MS) }
    }
    const schedule = ip === undefined ? undefined : await warming.find(db, ip)
    if (!schedule) return undefined
    const { completed, today_limit } = stageOf(schedule, now())
    const sent = (await warming.sentToday(db, [schedule.ip_address], now())).get(
      schedule.ip_address,
    )
    if (completed || (sent ?? 0) < today_limit) return undefined
    const reason = `warm-up limit of ${today_limit} reached for ${ip}, sending to ${domain}`
    return { reason, schedule_for: next(DAY_MS) }
  }

  return {
    async check(question: Question) {
      const { organization_id } = question
      const domain = domainOf(question)
      const ip = addressOf(question)
      if (!(await isOrganization(db, organization_id))) throw new NoSuchOrganization()
      const limit = await limitOf(domain)
      const counts = await limits.sent(db, organization_id, domain, now())
      const figures = {
        recipient_domain: domain,
        hourly_count: counts.hour,
        hourly_limit: limit.hourly_limit,
        daily_count: counts.day,
        daily_limit: limit.daily_limit,
        max_concurrent: limit.max_concurrent,
      }
      const refused = await obstacle({ domain, ip, counts, limit })
      if (!refused) {
        // So many in a minute go out at once; after that each waits a moment.
        const delay_ms = counts.minute >= limit.burst_limit ? limit.delay_ms : 0
        return { send_now: true, ...(delay_ms > 0 && { delay_ms }), ...figures }
      }
      await db.transaction().execute(async (tx) => {
        if (!(await limits.markThrottled(tx, organization_id, domain, now()))) return
        await events.emit(
          tx,
          DomainThrottled,
          { org_id: organization_id },
          { domain, reason: refused.reason, organization_id },
        )
      })
      return { send_now: false, ...refused, ...figures }
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

    /** Changes what is named; the rest stays as it was. */
    async setLimit(sent: string, changes: Partial<IspLimit>) {
      const domain = sent.toLowerCase() === OTHERS ? OTHERS : toDomainName(sent)
      if (domain === undefined) throw new NotADomain('domain')
      return db.transaction().execute(async (tx) => {
        await limits.lockLimits(tx)
        const limit = { ...(await limitOf(domain)), ...changes }
        await limits.storeLimit(tx, domain, limit, now())
        return { domain, ...limit }
      })
    },

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
  if (isIP(sender_ip) === 0 || sender_ip.includes('%')) throw new NotAnAddress('sender_ip')
  return plainAddress(sender_ip)
}
