import type { Direction } from '../hosting/rate-rules.ts'
import { CONTEXTS } from './access-policy.ts'
import type { Outage } from './outage.ts'
import type { PolicyRequest } from './protocol.ts'

// Only in these states is the message complete, so only there is it counted. Postfix may ask in both;
// the instance identifies the message, so it is counted once.
const COUNTED = new Set(['END-OF-MESSAGE', 'DATA'])

const TRUSTED: ReadonlySet<string> = new Set([CONTEXTS.internal, CONTEXTS.automatic])

interface RateQuestion {
  sender: string
  direction: Direction
  trusted: boolean
  recipient: string | undefined
  recipientCount: number | undefined
  messages: number
  record: boolean
  instance: string | undefined
}

interface RateDecision {
  allowed: boolean
  /** A retry would be refused too. */
  final?: boolean
  message?: string
}

/** The part of the rate limiter that Postfix asks for. */
export interface RateCheck {
  check(question: RateQuestion): RateDecision | Promise<RateDecision>
}

interface Needs {
  limiter: RateCheck
  outage: Outage
  /** Called with every decision, for the metrics. */
  decided(action: string): void
}

/** Decides by the rate limits of the sender whether a message may pass. */
export function ratePolicy({ limiter, outage, decided }: Needs) {
  const counted = (action: string): string => {
    decided(action)
    return action
  }

  return (request: PolicyRequest): string | Promise<string> => {
    const question = questionOf(request)
    if (!question) return counted('DUNNO')
    try {
      const decision = limiter.check(question)
      if (!(decision instanceof Promise)) return counted(actionFor(decision))
      return decision.then(actionFor, outage.action).then(counted)
    } catch (error) {
      return counted(outage.action(error))
    }
  }
}

/** Undefined for requests that no limit applies to. */
function questionOf(request: PolicyRequest): RateQuestion | undefined {
  const login = request.sasl_username?.toLowerCase()
  const sender = login || request.sender?.toLowerCase()
  // Services of this installation send on behalf of logged-in users, mailbox filters for holders.
  const trusted = !login && TRUSTED.has(request.policy_context ?? '')
  const record = COUNTED.has(request.protocol_state ?? '')
  // Before the end of the message only logins are checked, which saves the transfer of mail that would be refused.
  if (!sender || (!login && !(record && sender.includes('@')))) return undefined
  return {
    sender,
    direction: login || trusted ? 'outbound' : 'inbound',
    trusted,
    recipient: request.recipient?.toLowerCase() || undefined,
    recipientCount: Number(request.recipient_count) || undefined,
    // A mailbox filter sends all redirects of a message at once, so their pace says nothing.
    messages: request.policy_context === CONTEXTS.automatic ? 0 : 1,
    record,
    // join() makes one flat string; a template would keep its parts alive for as long as it is stored.
    instance: request.instance ? [request.instance, sender].join(' ') : undefined,
  }
}

function actionFor({ allowed, final, message }: RateDecision): string {
  if (allowed) return 'DUNNO'
  return final ? `REJECT 5.7.1 ${message}` : `DEFER_IF_PERMIT 4.7.1 ${message}`
}
