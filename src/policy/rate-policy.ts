import type { Decision, Limiter } from '../features/rate-limiter/limiter.ts'
import { CONTEXTS } from './access-policy.ts'
import type { Outage } from './outage.ts'
import type { PolicyRequest } from './protocol.ts'

// A message is counted where all of it is known. Postfix may ask at both; it is one message.
const COUNTED = new Set(['END-OF-MESSAGE', 'DATA'])

interface Needs {
  limiter: Pick<Limiter, 'check'>
  outage: Outage
  /** Told of every decision, for the metrics. */
  decided(action: string): void
}

/** Postfix asks whether a message may go on, by the limits of whoever sends it. */
export function ratePolicy({ limiter, outage, decided }: Needs) {
  const actionOf = ({ allowed, final, message }: Decision): string => {
    if (allowed) return 'DUNNO'
    return final ? `REJECT 5.7.1 ${message}` : `DEFER_IF_PERMIT 4.7.1 ${message}`
  }
  const told = (action: string): string => {
    decided(action)
    return action
  }

  return (request: PolicyRequest): string | Promise<string> => {
    const login = request.sasl_username?.toLowerCase()
    const sender = login || request.sender?.toLowerCase()
    // Services of the installation send for people who have logged in to them.
    const trusted = !login && request.policy_context === CONTEXTS.internal
    const record = COUNTED.has(request.protocol_state ?? '')
    // Before its end only a login is looked at: there is no use in transferring what cannot be sent.
    if (!sender || (!login && !(record && sender.includes('@')))) return told('DUNNO')
    try {
      const decision = limiter.check({
        sender,
        direction: login || trusted ? 'outbound' : 'inbound',
        trusted,
        recipient: request.recipient?.toLowerCase() || undefined,
        recipientCount: Number(request.recipient_count) || undefined,
        record,
        // Joined it is one text in memory; put together it would be three, and very many are kept.
        instance: request.instance ? [request.instance, sender].join(' ') : undefined,
      })
      if (!(decision instanceof Promise)) return told(actionOf(decision))
      return decision.then(actionOf, outage.action).then(told)
    } catch (error) {
      return told(outage.action(error))
    }
  }
}
