import { isIP } from 'node:net'
import type { Core } from '../core.ts'
import type { Outbox } from '../events/outbox.ts'
import type { Countries } from '../hosting/countries.ts'
import { AddressBlocked, CountryBlocked } from '../hosting/security.events.ts'
import type { Sender, Senders } from '../hosting/senders.ts'
import { refusedByRules } from '../lib/address-rules.ts'
import { onceEvery } from '../lib/once-every.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { findAccess } from './access.repository.ts'
import { isLocal, type Refusal, refusedByCountry } from './access-rules.ts'
import type { Outage } from './outage.ts'
import type { PolicyRequest } from './protocol.ts'
import type { Refusals } from './refusals.ts'

const REPEAT_MS = MINUTE_MS
const MAX_REMEMBERED = 10_000

interface Needs extends Pick<Core, 'db' | 'now'> {
  senders: Pick<Senders, 'find'>
  countries: Countries
  refusals: Pick<Refusals, 'suppressed' | 'blocked'>
  outage: Outage
  outbox: Pick<Outbox, 'add'>
}

/** The listener that asks, as set in its configuration; absent for the listener for logins. */
export const CONTEXTS = { mx: 'mx', internal: 'internal', automatic: 'automatic' } as const

/**
 * Postfix asks once for each recipient. For a login this checks the client IP address and the
 * recipient. For mail from outside it checks whether the recipient has blocked the sender. IP rules
 * are read for every request, so a change takes effect at once. The login determines the
 * organization, because an envelope sender can be forged; only services of this installation may
 * speak for an envelope sender.
 */
export function accessPolicy({ countries, db, now, outage, outbox, refusals, senders }: Needs) {
  const mayEmit = onceEvery(REPEAT_MS, MAX_REMEMBERED)

  /** Emits a refusal at most once a minute, because a client repeats it for every recipient. */
  function emit(
    refusal: Refusal,
    ip: string,
    { user, ...about }: { org_id: string; domain: string; user: string },
    action?: string,
  ) {
    if (!mayEmit(`${about.org_id} ${ip} ${refusal.rule_type}`, now().getTime())) return
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
      emit(byRule, ip, about)
      return `REJECT 5.7.1 ${ip}: ${byRule.text}`
    }
    if (!geo || !countries.isKnown) return 'DUNNO'
    const country = countries.of(ip)
    if (country === undefined && isLocal(ip)) return 'DUNNO'
    const byCountry = refusedByCountry(geo, country, now())
    if (!byCountry) return 'DUNNO'
    emit(byCountry, ip, about, geo.action)
    if (geo.action === 'log_only') return 'DUNNO'
    // SMTP has no way to challenge a client, so a challenge defers the message.
    return geo.action === 'challenge'
      ? `DEFER_IF_PERMIT 4.7.0 ${ip}: ${byCountry.text}`
      : `REJECT 5.7.1 ${ip}: ${byCountry.text}`
  }

  /** Mail to another organization of this host is incoming mail for that one. */
  async function atAnother(sender: Sender, from: string, recipient: string): Promise<string> {
    const host = from && recipient ? await senders.find(recipient, 'inbound') : undefined
    if (!host || host.organizationId === sender.organizationId) return 'DUNNO'
    return refusing(refusals.blocked(host.organizationId, from))
  }

  async function outgoing(
    login: string,
    ip: string,
    from: string,
    recipient: string,
  ): Promise<string> {
    const sender = await senders.find(login, 'outbound')
    if (!sender) return 'DUNNO'
    const byPlace = isIP(ip) ? await refusedByPlace(login, sender, ip) : 'DUNNO'
    if (byPlace !== 'DUNNO') return byPlace
    return sent(sender, from, recipient)
  }

  async function sent(sender: Sender, from: string, recipient: string): Promise<string> {
    const kind = sender.login?.kind === 'mailbox' ? 'personal' : 'bulk'
    const suppressed = await refusing(
      recipient && refusals.suppressed(sender.organizationId, recipient, kind),
    )
    return suppressed === 'DUNNO' ? atAnother(sender, from, recipient) : suppressed
  }

  /** A service of this installation may send for every hosted address. */
  async function internal(from: string, recipient: string): Promise<string> {
    const sender = await senders.find(from, 'outbound')
    if (!sender) return 'REJECT 5.7.1 mail is sent for domains that are hosted here alone'
    return sent(sender, from, recipient)
  }

  /** Redirects and replies of mailbox filters. A rejection notice has no sender. */
  async function automatic(from: string, recipient: string): Promise<string> {
    const sender = from ? await senders.find(from, 'outbound') : undefined
    return sender ? atAnother(sender, from, recipient) : 'DUNNO'
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
    if (isAmbiguous(from)) return 'REJECT 5.1.7 a local part with an @ is not allowed'
    if (isAmbiguous(recipient)) return 'REJECT 5.1.3 a local part with an @ is not allowed'
    if (login) {
      return outgoing(login, request.client_address ?? '', from, recipient).catch(outage.action)
    }
    if (context === CONTEXTS.internal) return internal(from, recipient).catch(outage.action)
    if (context === CONTEXTS.automatic) return automatic(from, recipient).catch(outage.action)
    // The empty sender cannot be blocked: bounces use it.
    if (context !== CONTEXTS.mx || !from || !recipient) return 'DUNNO'
    return incoming(from, recipient).catch(outage.action)
  }
}

/** True for a quoted local part with an @, whose domain programs disagree about. */
const isAmbiguous = (address: string): boolean => address.indexOf('@') !== address.lastIndexOf('@')

/** The action for a refusal text; DUNNO when there is none. */
const refusing = async (
  found: string | undefined | Promise<string | undefined>,
): Promise<string> => {
  const text = await found
  return text ? `REJECT 5.7.1 ${text}` : 'DUNNO'
}
