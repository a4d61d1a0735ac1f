import { parseNetworks, plainAddress } from '../lib/cidr.ts'
import type { AccessRule, GeoPolicy } from './access.repository.ts'

export interface Refusal {
  rule_type: 'blacklist' | 'whitelist_miss' | 'geo'
  cidr?: string
  country?: string
  /** The country would do, the hour does not. */
  hour?: true
  text: string
}

const matches = (rule: AccessRule, address: string): boolean =>
  // A rule that cannot be read says nothing.
  parseNetworks([rule.ip_address])?.contains(address) ?? false

/** Blacklists first; then, where there are whitelists, whoever is on none. */
export function refusedByRules(rules: AccessRule[], sent: string): Refusal | undefined {
  const address = plainAddress(sent)
  const black = rules.find((rule) => rule.rule_type === 'blacklist' && matches(rule, address))
  if (black) {
    const text = 'your address is on the blacklist of your organization'
    return { rule_type: 'blacklist', cidr: black.ip_address, text }
  }
  const whites = rules.filter((rule) => rule.rule_type === 'whitelist')
  if (whites.length === 0 || whites.some((rule) => matches(rule, address))) return undefined
  const text = 'your address is not on the whitelist of your organization'
  return { rule_type: 'whitelist_miss', text }
}

const LOCAL = parseNetworks([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
  'fe80::/10',
])

/** Private addresses are in no country; IP rules are there for them. */
export const isLocal = (address: string): boolean => LOCAL?.contains(plainAddress(address)) ?? false

/** The list of allowed countries counts first; somewhere unknown is not on it. */
export function refusedByCountry(
  policy: GeoPolicy,
  country: string | undefined,
  now: Date,
): Refusal | undefined {
  const { allowed_countries, blocked_countries } = policy
  const where = country ?? 'an unknown country'
  const refused = (text: string): Refusal => ({
    rule_type: 'geo',
    ...(country !== undefined && { country }),
    text,
  })
  const isOn = (list: string[]) => country !== undefined && list.includes(country)
  if (allowed_countries.length > 0 && !isOn(allowed_countries)) {
    return refused(`your organization does not allow logins from ${where}`)
  }
  if (allowed_countries.length === 0 && isOn(blocked_countries)) {
    return refused(`your organization does not allow logins from ${where}`)
  }
  if (isOutsideHours(policy, country, now)) {
    return { ...refused('your organization does not allow logins at this hour'), hour: true }
  }
  return undefined
}

function isOutsideHours(
  { time_restrictions: times }: GeoPolicy,
  country: string | undefined,
  now: Date,
): boolean {
  const { start, end } = times?.allowed_hours ?? {}
  if (start === undefined || end === undefined || start === end) return false
  const countries = times?.applies_to_countries ?? []
  if (countries.length > 0 && (country === undefined || !countries.includes(country))) return false
  const hour = (((now.getUTCHours() + (times?.timezone_offset ?? 0)) % 24) + 24) % 24
  // From 22 to 6 is over midnight.
  return start < end ? hour < start || hour >= end : hour < start && hour >= end
}
