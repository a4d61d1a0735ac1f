import { hash } from 'node:crypto'
import type { Core } from '../../../core.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import { limitFor } from './isp-limits.ts'
import * as limits from './limits.repository.ts'
import { emitThrottled, type Obstacle, overLimit, overStep } from './obstacles.ts'
import * as paced from './paced-mail.repository.ts'
import { isCompleted, type Schedule } from './warm-up.ts'
import { scheduleFor } from './warming.repository.ts'

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'now'>

export interface Outgoing {
  organizationId: string
  sender: string
  /** The recipients outside of this host, by their domain. */
  destinations: ReadonlyMap<string, readonly string[]>
}

/** A part of the message that goes to one domain. */
interface Piece {
  id: string
  recipients: readonly string[]
}

export interface Admitted {
  /** Delivered now. `ids` are set while a warm-up counts the result. */
  passing: { recipients: string[]; ids: string[] }
  /** Wait on hold in the queue. */
  held: Piece[]
  delayMs: number
}

/** Decides for each destination whether mail is delivered now or waits in the queue. */
export function admit(needs: Needs, mail: Outgoing): Promise<Admitted> {
  return needs.db.transaction().execute(async (tx) => {
    const schedule = await runningSchedule(tx, mail.organizationId, needs.now())
    await paced.lockScope(tx, schedule?.ip_address ?? mail.organizationId)
    const result: Admitted = { passing: { recipients: [], ids: [] }, held: [], delayMs: 0 }
    for (const [domain, recipients] of mail.destinations) {
      const piece = { id: ulid(), recipients }
      const { obstacle, delayMs } = await obstacleOf(needs, tx, mail, domain, schedule)
      if (obstacle) {
        await store(tx, mail, domain, piece, { state: 'waiting', schedule, reason: obstacle.kind })
        await emitThrottled(needs, tx, mail.organizationId, domain, obstacle.reason)
        result.held.push(piece)
        continue
      }
      if (needs.config.DELIVERY_OPTIMIZER_ENABLED) {
        await limits.count(tx, mail.organizationId, domain, needs.now())
      }
      result.passing.recipients.push(...recipients)
      result.delayMs = Math.max(result.delayMs, delayMs)
      if (!schedule) continue
      await store(tx, mail, domain, piece, { state: 'sending', schedule, reason: null })
      result.passing.ids.push(piece.id)
    }
    return result
  })
}

/** The warm-up that paces the mail of an organization now. */
export async function runningSchedule(
  db: Db,
  organizationId: string,
  now: Date,
): Promise<Schedule | undefined> {
  const schedule = await scheduleFor(db, organizationId)
  return schedule && !isCompleted(schedule, now) ? schedule : undefined
}

async function obstacleOf(
  { config, now }: Needs,
  tx: Tx,
  { organizationId }: Outgoing,
  domain: string,
  schedule: Schedule | undefined,
): Promise<{ obstacle?: Obstacle; delayMs: number }> {
  if (schedule) {
    const isQueued = await paced.isWaitingFor(tx, schedule.ip_address)
    const obstacle = isQueued
      ? behind('warm_up', domain)
      : await overStep(tx, schedule, domain, now())
    if (obstacle) return { obstacle, delayMs: 0 }
  }
  if (!config.DELIVERY_OPTIMIZER_ENABLED) return { delayMs: 0 }
  const earlier = await paced.waitingTo(tx, organizationId, domain)
  if (earlier) return { obstacle: behind(earlier, domain), delayMs: 0 }
  const limit = limitFor(domain, await limits.limitsOf(tx, limits.namesFor(domain)))
  const counts = await limits.sent(tx, organizationId, domain, now())
  const obstacle = overLimit(domain, counts, limit, now())
  if (obstacle) return { obstacle, delayMs: 0 }
  // The burst of a minute goes out at once; further messages are delayed.
  return { delayMs: counts.minute >= limit.burst_limit ? limit.delay_ms : 0 }
}

/** Later mail does not overtake mail that waits for the same limit. */
const behind = (kind: Obstacle['kind'], domain: string): Obstacle => ({
  kind,
  reason: `earlier mail to ${domain} waits`,
  schedule_for: '',
})

const store = (
  tx: Tx,
  mail: Outgoing,
  domain: string,
  { id, recipients }: Piece,
  {
    state,
    schedule,
    reason,
  }: {
    state: 'waiting' | 'sending'
    schedule: Schedule | undefined
    reason: paced.PacingReason | null
  },
) =>
  paced.insert(tx, {
    id,
    organization_id: mail.organizationId,
    recipient_domain: domain,
    recipients: new Set(recipients.map((one) => one.toLowerCase())).size,
    envelope: envelopeOf(mail.sender, recipients),
    ip_address: schedule?.ip_address ?? null,
    state,
    reason,
  })

/** Equal for the same sender and recipients, in any order. */
export const envelopeOf = (sender: string, recipients: readonly string[]): string => {
  const names = [...new Set(recipients.map((one) => one.toLowerCase()))].sort()
  return hash('sha256', [sender.toLowerCase(), ...names].join('\n'))
}
