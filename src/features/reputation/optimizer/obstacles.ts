import type { Core } from '../../../core.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'
import { DomainThrottled } from '../reputation.events.ts'
import type { IspLimit } from './isp-limits.ts'
import * as limits from './limits.repository.ts'
import { countUnderWay, type PacingReason } from './paced-mail.repository.ts'
import { type Schedule, stageOf } from './warm-up.ts'
import { sentToday } from './warming.repository.ts'

/** The reason why mail may not be delivered now, and until when. */
export interface Obstacle {
  kind: PacingReason
  reason: string
  schedule_for: string
}

const next = (now: Date, ms: number) =>
  new Date((Math.floor(now.getTime() / ms) + 1) * ms).toISOString()

export function overLimit(
  domain: string,
  counts: limits.Sent,
  limit: IspLimit,
  now: Date,
): Obstacle | undefined {
  if (counts.hour >= limit.hourly_limit) {
    const reason = `hourly limit of ${limit.hourly_limit} reached for ${domain}`
    return { kind: 'hourly', reason, schedule_for: next(now, HOUR_MS) }
  }
  if (counts.day >= limit.daily_limit) {
    const reason = `daily limit of ${limit.daily_limit} reached for ${domain}`
    return { kind: 'daily', reason, schedule_for: next(now, DAY_MS) }
  }
  return undefined
}

/** Messages under way count too, so that a burst cannot exceed the step of the day. */
export async function overStep(
  db: Db,
  schedule: Schedule,
  domain: string,
  now: Date,
): Promise<Obstacle | undefined> {
  const { completed, today_limit } = stageOf(schedule, now)
  if (completed) return undefined
  const { ip_address: ip } = schedule
  const sent = (await sentToday(db, [ip], now)).get(ip) ?? 0
  if (sent + (await countUnderWay(db, ip)) < today_limit) return undefined
  const reason = `warm-up limit of ${today_limit} reached for ${ip}, sending to ${domain}`
  return { kind: 'warm_up', reason, schedule_for: next(now, DAY_MS) }
}

/** Emits that mail to a domain is slowed down, once an hour. */
export async function emitThrottled(
  { events, now }: Pick<Core, 'events' | 'now'>,
  tx: Tx,
  organizationId: string,
  domain: string,
  reason: string,
): Promise<void> {
  if (!(await limits.markThrottled(tx, organizationId, domain, now()))) return
  const data = { domain, reason, organization_id: organizationId }
  await events.emit(tx, DomainThrottled, { org_id: organizationId }, data)
}
