import { HOUR_MS, MINUTE_MS } from '../lib/time.ts'
import { MailServerAway } from './service-mail.ts'

/** The waits after refusals that are not final; the last one is repeated. */
const WAITS_MS = [2000, 10_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS]
const AWAY_MS = 5000
/** Like Postfix, which gives up after five days. */
const MAX_AGE_MS = 120 * HOUR_MS

/** The other messages of a sender wait this long: most refusals are limits for each second. */
export const PAUSE_MS = 2000

export type DeliveryOutcome =
  | { kind: 'sent' }
  /** `isAway`: nothing is known about this message. */
  | { kind: 'wait'; ms: number; isAway: boolean; reason: string }
  | { kind: 'refused'; reason: string }

interface Waited {
  attempts: number
  ageMs: number
}

const MAX_REASON = 500

/** The next step with a message that waits in an outbox, after the mail server has replied or not. */
export function outcomeOf(
  reply: string | MailServerAway,
  { attempts, ageMs }: Waited,
): DeliveryOutcome {
  const isAway = reply instanceof MailServerAway
  const text = isAway ? reply.message : reply
  if (!isAway && text.startsWith('2')) return { kind: 'sent' }
  const reason = text.slice(0, MAX_REASON)
  if ((!isAway && !text.startsWith('4')) || ageMs >= MAX_AGE_MS) return { kind: 'refused', reason }
  const ms = isAway ? AWAY_MS : (WAITS_MS[Math.min(attempts, WAITS_MS.length - 1)] as number)
  return { kind: 'wait', ms, isAway, reason }
}

/** The reply, or that there is none. */
export const orAway = (sending: Promise<string>): Promise<string | MailServerAway> =>
  sending.catch((error) => {
    if (!(error instanceof MailServerAway)) throw error
    return error
  })
