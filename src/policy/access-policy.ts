import { isIP } from 'node:net'
import type { Core } from '../core.ts'
import type { Outbox } from '../events/outbox.ts'
import type { Sender, Senders } from '../features/rate-limiter/senders.ts'
import type { Countries } from '../features/security/geo-policies/countries.ts'
import { AddressBlocked, CountryBlocked } from '../features/security/security.events.ts'
import { findAccess } from './access.repository.ts'
import { isLocal, type Refusal, refusedByCountry, refusedByRules } from './access-rules.ts'
import type { Outage } from './outage.ts'
import type { PolicyRequest } from './protocol.ts'
import type { Refusals } from './refusals.ts'

const REPEAT_MS = 60_000
const MAX_TOLD = 10_000

interface Needs extends Pick<Core, 'db' | 'now'> {
  senders: Pick<Senders, 'find'>
  countries: Countries
  refusals: Pick<Refusals, 'suppressed' | 'blocked'>
  outage: Outage
  outbox: Pick<Outbox, 'add'>
}

/** Which listener asks, as its configuration says; without a word it is one for logins. */
export const CONTEXTS = { mx: 'mx', internal: 'internal' } as const

/**
 * Postfix asks for each recipient. Of somebody who has logged in: whether they may send from where
 * they are, and to whom. Rules about addresses are read afresh every time: one holds from the next
 * connection on. Whose rules, the login says; an envelope sender is whatever its sender wants it to
 * be, except from the installation's own services. Of mail from outside: whether it is wanted.
 */
export function accessPolicy({ countries, db, now, outage, outbox, refusals, senders }: Needs) {
  const told = new Map<string, number>()

  /** The same refusal is told once a minute: a client repeats it for every recipient. */
  function tell(
    refusal: Refusal,
    ip: string,
    { user, ...about }: { org_id: string; domain: string; user: string },
    action?: string,
  ) {
    const at = now().getTime()
    const name = `${about.org_id} ${ip} ${refusal.rule_type}`
    if (at - (told.get(name) ?? 0) < REPEAT_MS) return
    if (told.size >= MAX_TOLD) told.clear()
    told.set(name, at)
    const { text: _, hour: __, ...data } = refusal
    const { domain } = about
    outbox.add(AddressBlocked, about, {
      ip_address: ip,
      domain,
      ...data,
      ...(action !== undefined && { action }),
    })
    if (refusal.rule_type !== 'geo' || action === undefined) return
    const country = refusal.country ?? null
    const reason = refusal.hour ? 'hour' : 'country'
    outbox.add(CountryBlocked, about, { ip_address: ip, country, user, reason, action })
  }

  async function refusedByPlace(login: string, sender: Sender, ip: string): Promise<string> {
    const about = { org_id: sender.organizationId, domain: sender.domain, user: login }
    const { rules, geo } = await findAccess(db, sender.organizationId)
    const byRule = refusedByRules(rules, ip)
    if (byRule) {
      tell(byRule, ip, about)
      return `REJECT 5.7.1 ${ip}: ${byRule.text}`
    }
    if (!geo || !countries.isKnown) return 'DUNNO'
    const country = countries.of(ip)
    if (country === undefined && isLocal(ip)) return 'DUNNO'
    const byCountry = refusedByCountry(geo, country, now())
    if (!byCountry) return 'DUNNO'
    tell(byCountry, ip, about, geo.action)
    if (geo.action === 'log_only') return 'DUNNO'
    // There is nothing to ask somebody in the middle of SMTP: a challenge is a refusal for now.
    return geo.action === 'challenge'
      ? `DEFER_IF_PERMIT 4.7.0 ${ip}: ${byCountry.text}`
      : `REJECT 5.7.1 ${ip}: ${byCountry.text}`
  }

  async function outgoing(login: string, ip: string, recipient: string): Promise<string> {
    const sender = await senders.find(login, 'outbound')
    if (!sender) return 'DUNNO'
    const byPlace = isIP(ip) ? await refusedByPlace(login, sender, ip) : 'DUNNO'
    if (byPlace !== 'DUNNO') return byPlace
    return refusing(recipient && refusals.suppressed(sender.organizationId, recipient))
  }

  /** A service of the installation, which speaks for the people whose addresses it sends from. */
  async function internal(from: string, recipient: string): Promise<string> {
    const sender = await senders.find(from, 'outbound')
    if (!sender) return 'REJECT 5.7.1 mail is sent for domains that are hosted here alone'
    return refusing(recipient && refusals.suppressed(sender.organizationId, recipient))
  }

  async function incoming(from: string, recipient: string): Promise<string> {
    const host = await senders.find(recipient, 'inbound')
    return refusing(host && refusals.blocked(host.organizationId, from))
  }

  return (request: PolicyRequest): string | Promise<string> => {
    const login = request.sasl_username?.toLowerCase()
    const from = request.sender?.toLowerCase() ?? ''
    const recipient = request.recipient?.toLowerCase() ?? ''
    const context = request.policy_context
    if (login) {
      return outgoing(login, request.client_address ?? '', recipient).catch(outage.action)
    }
    if (context === CONTEXTS.internal) return internal(from, recipient).catch(outage.action)
    // Nobody can block the empty sender: bounces of one's own mail come from it.
    if (context !== CONTEXTS.mx || !from || !recipient) return 'DUNNO'
    return incoming(from, recipient).catch(outage.action)
  }
}

/** An action of what was found: the text that refuses, or nothing. */
const refusing = async (
  found: string | undefined | Promise<string | undefined>,
): Promise<string> => {
  const text = await found
  return text ? `REJECT 5.7.1 ${text}` : 'DUNNO'
}
