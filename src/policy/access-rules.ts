import type { RefusedAddress } from '../lib/address-rules.ts'
import { normalizeIp, parseNetworks } from '../lib/ip.ts'
import type { GeoPolicy } from './access.repository.ts'

export interface Refusal {
  rule_type: RefusedAddress['rule_type'] | 'geo'
  cidr?: string
  country?: string
  /** The country is allowed, but not at this hour. */
  hour?: true
  text: string
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

/** Private IP addresses have no country; IP rules cover them. */
export const isLocal = (address: string): boolean => LOCAL?.contains(normalizeIp(address)) ?? false

/** A list of allowed countries replaces the list of blocked ones; an unknown country is not on it. */
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
  // A range such as 22 to 6 spans midnight.
  return start < end ? hour < start || hour >= end : hour < start && hour >= end
}
