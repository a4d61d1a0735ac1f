import { normalizeIp, parseNetworks } from './ip.ts'

export interface AddressRule {
  rule_type: 'whitelist' | 'blacklist'
  ip_address: string
}

export interface RefusedAddress {
  rule_type: 'blacklist' | 'whitelist_miss'
  cidr?: string
  text: string
}

const matches = (rule: AddressRule, address: string): boolean =>
  // A rule that cannot be parsed matches nothing.
  parseNetworks([rule.ip_address])?.contains(address) ?? false

/** Blacklists are checked first. With at least one whitelist rule, an IP address must match one. */
export function refusedByRules(
  rules: readonly AddressRule[],
  sent: string,
): RefusedAddress | undefined {
  if (rules.length === 0) return undefined
  const address = normalizeIp(sent)
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
